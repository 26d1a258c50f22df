/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The table cache: written tables are read, and damaged tables are refused: fabric/table_cache.h.
 */
#include "fabric/table_cache.h"

#include <sys/stat.h>

#include "tests/unit/fixtures/hex.h"
#include "tests/unit/fixtures/model.h"
#include "tests/unit/fixtures/unit.h"

enum { SWITCHES = 12, HEAD = 16, ROW_HEAD = 28 };

static char dir[] = "/tmp/weft-cache.XXXXXX";
static char path[64];

static lid_t top_of(unsigned n)
{
	return (lid_t)(40 + n * 30);
}

static lid_t mft_top_of(unsigned n)
{
	return (lid_t)(LID_MULTICAST_MIN + 63 + n);
}

/* Two blocks that are known, of which some cells hold something. */
static void give_mft(struct node *node, unsigned n)
{
	uint16_t ports[MFT_BLOCK_LIDS] = {0};

	mft_free(node->sw->mft);
	node->sw->mft = mft_new(node->num_ports, 64);
	for (unsigned i = 0; i < 2; i++) {
		ports[n] = (uint16_t)(i && n % 3 ? n : 0);
		mft_learn(node->sw->mft, i, ports);
	}
	facts_own(&node->facts)->sw.multicast_fdb_top = mft_top_of(n);
}

/* Settled switches, each with a table of its own. */
static void give_tables(const struct model *model)
{
	const struct roster *roster = fabric_roster(model->fabric);

	CU_ASSERT_EQUAL_FATAL(roster->num_switches, SWITCHES);
	for (unsigned n = 0; n < SWITCHES; n++) {
		struct switch_state *sw = roster->switches[n]->sw;
		struct lft *row = lft_new(top_of(n));

		for (lid_t lid = 1; lid <= row->top; lid++)
			row->port[lid] = (uint8_t)(lid * 3 + n);
		lft_unref(sw->lft.want);
		sw->lft.want = row;
		lft_have_begin(&sw->lft.have, row);
		lft_have_settle(&sw->lft.have);
		sw->lft.settled = true;
		give_mft(roster->switches[n], n);
	}
}

static struct table_cache *open_table_cache(const struct model *model)
{
	return table_cache_new(model->loop, NULL, dir, model->fabric);
}

/* As a pool would: there is none here, so table_cache_end() writes. */
static void write_table_cache(const struct model *model)
{
	struct work_pool *pool = work_pool_new(model->loop, 1);
	struct table_cache *cache = table_cache_new(model->loop, pool, dir, model->fabric);

	table_cache_touch(cache);
	work_pool_free(pool);
	table_cache_end(cache);
	table_cache_free(cache);
}

static bool mft_comes_back(struct table_cache *cache, const struct node *node, unsigned n)
{
	struct mft_row *held = mft_row(node->sw->mft), *row;
	lid_t top = 0;
	bool same;

	row = table_cache_take_mft(cache, node->guid, &top);
	same = row && top == mft_top_of(n) && row->blocks == 2 && row->blocks == held->blocks &&
	       row->count == (n % 3 ? 1 : 0) && row->count == held->count &&
	       memcmp(row->cell, held->cell, row->count * sizeof(row->cell[0])) == 0;
	CU_ASSERT_TRUE(!row || same);
	mft_row_unref(held);
	mft_row_unref(row);
	CU_ASSERT_PTR_NULL(table_cache_take_mft(cache, node->guid, &top));
	return same;
}

/* How many rows of linear tables are read back, and of multicast tables; each must be unchanged. */
static unsigned mfts_found;

static unsigned read_back(const struct model *model)
{
	const struct roster *roster = fabric_roster(model->fabric);
	struct table_cache *cache = open_table_cache(model);
	unsigned found = 0;

	mfts_found = 0;
	for (unsigned n = 0; n < SWITCHES; n++) {
		struct lft *row = table_cache_take(cache, roster->switches[n]->guid);

		mfts_found += mft_comes_back(cache, roster->switches[n], n);
		if (!row)
			continue;
		found++;
		CU_ASSERT_EQUAL(row->top, top_of(n));
		CU_ASSERT_EQUAL(memcmp(row->port, roster->switches[n]->sw->lft.want->port,
				       (size_t)row->blocks * LFT_BLOCK_LIDS),
				0);
		lft_unref(row);
		CU_ASSERT_PTR_NULL(table_cache_take(cache, roster->switches[n]->guid));
	}
	table_cache_free(cache);
	return found;
}

static void with_model(void (*test)(struct model *model))
{
	struct net *net;
	struct model model;
	char *error;

	if (spec_build("fattree:radix=8,levels=2", &net, &error))
		abort();
	model_init(&model);
	model_fill(&model, net, 0, 1, 0, 1);
	give_tables(&model);
	unlink(path);
	test(&model);
	model_done(&model);
	net_free(net);
}

static void there_and_back(struct model *model)
{
	static const uint16_t none[MFT_BLOCK_LIDS];
	const struct roster *roster = fabric_roster(model->fabric);
	struct stat stat_of;

	CU_ASSERT_EQUAL(read_back(model), 0); /* no file */
	write_table_cache(model);
	CU_ASSERT_EQUAL(stat(path, &stat_of), 0);
	CU_ASSERT_EQUAL(stat_of.st_mode & 0777, 0600);
	CU_ASSERT_EQUAL(read_back(model), SWITCHES);
	CU_ASSERT_EQUAL(mfts_found, SWITCHES);
	mft_doubt(roster->switches[5]->sw->mft, 1, none);
	roster->switches[3]->sw->lft.settled = false; /* its content is unknown */
	write_table_cache(model);
	CU_ASSERT_EQUAL(read_back(model), SWITCHES - 1);
	CU_ASSERT_EQUAL(mfts_found, SWITCHES - 1);
}

static void test_there_and_back(void)
{
	with_model(there_and_back);
}

static void put_file(const uint8_t *bytes, size_t size)
{
	FILE *file = fopen(path, "wb");

	if (!file || fwrite(bytes, 1, size, file) != size || fclose(file))
		abort();
}

/* Rows by hand: GUID, kind, top, bytes, checksum, and the bytes. An LFT has whole blocks of 64. An
 * MFT has the numbers of blocks and positions, and a cell of 32 masks with its index. Rows are in
 * files and go to standbys of the same version, so they do not change. The checksums are from an
 * independent program in another language. */
static const char lft_by_hand[] =
	"0002c90300000001 00000001 00000003 00000040 f3c5139edb738b14 "
	"ff010203 ffffffffffffffffffffffffffffffffffffffffffffffffffffffff"
	"ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff";
static const char mft_by_hand[] = "0002c90300000001 00000002 0000c03f 00000048 b9af3d3401e3d43e "
				  "0002 0001 00000001 8002 .60 0104";

static void check_bytes(const uint8_t *bytes, size_t size, const char *by_hand)
{
	uint8_t wanted[256];

	CU_ASSERT_EQUAL_FATAL(hex_bytes(by_hand, wanted, sizeof(wanted)), size);
	CU_ASSERT_EQUAL(memcmp(bytes, wanted, size), 0);
}

static void test_lft_by_hand(void)
{
	struct lft *lft = lft_new(3);
	uint8_t bytes[256];
	struct table_cache_row row = {0};
	size_t size = table_cache_lft_size(lft);

	for (uint8_t lid = 1; lid <= 3; lid++)
		lft->port[lid] = lid;
	table_cache_lft_put(0x0002c90300000001, lft, bytes);
	check_bytes(bytes, size, lft_by_hand);
	CU_ASSERT_EQUAL(table_cache_row_get(bytes, size, &row), size);
	CU_ASSERT_TRUE(row.guid == 0x0002c90300000001 && !row.mft && row.lft);
	CU_ASSERT_TRUE_FATAL(row.lft != NULL && row.lft->top == 3 && row.lft->blocks == 1);
	CU_ASSERT_EQUAL(memcmp(row.lft->port, lft->port, 64), 0);
	table_cache_row_done(&row);
	lft_unref(lft);
}

static void test_mft_by_hand(void)
{
	struct mft_row *mft = mft_row_new(2, 1, 1);
	uint8_t bytes[256];
	struct table_cache_row row = {0};
	size_t size = table_cache_mft_size(mft);

	mft->cell[0] = (struct mft_row_cell){.index = 1, .ports = {0x8002, [31] = 0x0104}};
	table_cache_mft_put(0x0002c90300000001, mft, 0xC03F, bytes);
	check_bytes(bytes, size, mft_by_hand);
	CU_ASSERT_EQUAL(table_cache_row_get(bytes, size, &row), size);
	CU_ASSERT_TRUE(row.guid == 0x0002c90300000001 && !row.lft && row.mft_top == 0xC03F);
	CU_ASSERT_TRUE_FATAL(row.mft != NULL && row.mft->blocks == 2 && row.mft->positions == 1);
	CU_ASSERT_TRUE(row.mft->count == 1 && row.mft->cell[0].index == 1);
	CU_ASSERT_EQUAL(memcmp(row.mft->cell, mft->cell, sizeof(mft->cell[0])), 0);
	table_cache_row_done(&row);
	mft_row_unref(mft);
}

/* The file: magic, version 1, the number of rows, and the rows. */
static void file_by_hand(struct model *model)
{
	struct table_cache *cache;
	uint8_t bytes[512];
	struct lft *lft;
	struct mft_row *mft;
	lid_t top = 0;
	size_t size = hex_bytes("776566747461626c 00000001 00000002", bytes, sizeof(bytes));

	size += hex_bytes(lft_by_hand, bytes + size, sizeof(bytes) - size);
	size += hex_bytes(mft_by_hand, bytes + size, sizeof(bytes) - size);
	put_file(bytes, size);
	cache = open_table_cache(model);
	lft = table_cache_take(cache, 0x0002c90300000001);
	mft = table_cache_take_mft(cache, 0x0002c90300000001, &top);
	CU_ASSERT_TRUE(lft && lft->top == 3 && lft->port[2] == 2);
	CU_ASSERT_TRUE(mft && top == 0xC03F && mft->cell[0].ports[31] == 0x0104);
	lft_unref(lft);
	mft_row_unref(mft);
	table_cache_free(cache);
}

static void test_file_by_hand(void)
{
	with_model(file_by_hand);
}

/* Wherever a bit turns, or the file ends. */
static void damage_anywhere(struct model *model)
{
	struct unit_capture capture;
	static uint8_t bytes[1 << 16];
	unsigned whole = 0;
	char text[64];
	size_t size;
	FILE *file;

	write_table_cache(model);
	file = fopen(path, "rb");
	size = fread(bytes, 1, sizeof(bytes), file);
	fclose(file);
	CU_ASSERT_TRUE_FATAL(size > HEAD + SWITCHES * (ROW_HEAD + 64) && size < sizeof(bytes));
	unit_capture_begin(&capture);
	for (size_t at = 0; at < size; at++) {
		bytes[at] ^= (uint8_t)(1u << at % 8);
		put_file(bytes, size);
		whole += read_back(model) == SWITCHES && mfts_found == SWITCHES && at >= HEAD;
		bytes[at] ^= (uint8_t)(1u << at % 8);
	}
	CU_ASSERT_EQUAL(whole, 0);
	for (size_t end = 0; end < size; end += 7) {
		put_file(bytes, end);
		CU_ASSERT_TRUE(read_back(model) < SWITCHES || mfts_found < SWITCHES);
	}
	unit_capture_end(&capture, text, sizeof(text));
}

static void test_damage_anywhere(void)
{
	with_model(damage_anywhere);
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"there and back", test_there_and_back},
		{"a linear table by hand", test_lft_by_hand},
		{"a multicast table by hand", test_mft_by_hand},
		{"a file by hand", test_file_by_hand},
		{"damage anywhere", test_damage_anywhere},
		CU_TEST_INFO_NULL,
	};
	int status;

	if (!mkdtemp(dir))
		return 1;
	snprintf(path, sizeof(path), "%s/tables.img", dir);
	status = unit_main("table_cache", tests);
	unlink(path);
	return rmdir(dir) ? 1 : status;
}
