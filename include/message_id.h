/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * MESSAGE_ID of the log lines that require an operator's action: journalctl MESSAGE_ID=... finds
 * all lines of a kind. The values are random, as systemd requires. The meaning of a published value
 * never changes.
 */
#ifndef INCLUDE_MESSAGE_ID_H
#define INCLUDE_MESSAGE_ID_H

/* The role changed. */
#define MESSAGE_ROLE "5b0f4bb7a5b84b1a8f0a3f6f2b9f7c11"
/* A sweep ended; its figures. */
#define MESSAGE_SWEEP "c3a1e0b92d7f4f6e9a5d1b7c84e20f36"
/* Two devices have the same GUID. */
#define MESSAGE_DUPLICATE "7d2c9f40e6b14c0d8e3b5a91f7c6d824"
/* A node disappeared. */
#define MESSAGE_VANISHED "1f8e6d3ab0924e57b6c8d4f215a9e703"
/* A device does not answer. */
#define MESSAGE_SILENT "e94b7a1c5d3f4082a6f1c9d80b2e7465"
/* Two ports had the same LID. */
#define MESSAGE_LID_CONFLICT "a06d5e2f8b7143c9bd94e1f3c7a85210"
/* A port or switch did not accept a Set(). */
#define MESSAGE_NOT_ACTIVE "38c7f1d9e4a24b65915e0c6d2fb8a7e4"
/* A link flaps and is held. */
#define MESSAGE_FLAPPING "c1b7405ad83e4f0c9f2a64e7d95b3188"
/* A port sends the same trap again and again. */
#define MESSAGE_BABBLING "5e9d20b8f6c74a1fb3074d1ca8e6927f"
/* A trap does not come from the port that it names. */
#define MESSAGE_TRAP_SENDER "186affc5fdd2f12b5b2050e0aa476d96"
/* A device holds values that weftd did not write. */
#define MESSAGE_DIFFERS "92ae6c01f75d4b8da0c35e418bf7d260"
/* No route passes a switch. */
#define MESSAGE_LEFT_OUT "0d64f2b8913c4ae7a51c8e27b6f0394d"
/* An engine refused, or some ports are not reached. */
#define MESSAGE_ROUTES "4bb6f0a7a8e5440b884afe1de8960188"
/* Registrations cannot be saved, or can be saved again. */
#define MESSAGE_STORE "57a46fd402914a19810e691ca1b8d4d7"
/* A file of the state directory is damaged. */
#define MESSAGE_STORE_DAMAGED "46fffa19cde243bba4e965bd6f5557f4"
/* Cables moved, or another manager wrote, while tables were programmed. */
#define MESSAGE_ROUTE_CHANGED "3f6d1c0a9be24d5f8a7752e0c4b91d68"
/* A P_Key table has no room. */
#define MESSAGE_PKEYS_FULL "b62e8a4f0c7d4d19935f7c6a1e08d2b4"
/* The groups of a partition have no MLID, or have one again. */
#define MESSAGE_NO_MLID "deef07b531b64ae7ac4a4a973c15494f"
/* A port reached a limit of the SA. */
#define MESSAGE_SA_LIMIT "b9b7cc1b90037a07a41317792e4c66f3"
/* The partition file is invalid: the last valid file stays in force. */
#define MESSAGE_PARTITIONS_BAD "e1405dc28b9f4b06a7d23f9b5c6e8a17"
/* The partition file that was in force is missing: it stays in force. */
#define MESSAGE_PARTITIONS_LOST "2c528ffa06bc4a47b9c14e7936802030"
/* The partitions are unknown, or are known again. */
#define MESSAGE_PARTITIONS_FROZEN "8c1f3b7ad0e94c52b6d8f20c4e9a7153"
/* A command that changes something, and its result. */
#define MESSAGE_COMMAND "5b0c6f2e8d914a37b6e41f0d92c7a853"
/* Another partition file is in force, or was refused. */
#define MESSAGE_PARTITIONS "6f40850963ee9d3e0dc43dbae4c997a5"
/* P_Keys of another manager will be removed. */
#define MESSAGE_PKEYS_FOREIGN "4b0f6a97d1c34e5e8f27c90ad6b3518c"
/* Error counters of a port rise. */
#define MESSAGE_PORT_ERRORS "8adb73240c4b4bb0bd1ac8749d5fe918"
/* Counters of ports are lower than before, although weftd did not reset them. */
#define MESSAGE_COUNTERS_RESET "64ebcb284c29c7712c39d82ccafe5b41"
/* Links appeared or disappeared. */
#define MESSAGE_LINK "d22c48f06ce6412dbeecb54b3df22622"
/* A request had a wrong M_Key. */
#define MESSAGE_M_KEY "b3f10c8e5a2d4697915ed04c7a8be62f"
/* A manager that is not allowed, or has another SM_Key. */
#define MESSAGE_FOREIGN_MANAGER "eeaa7021dc49471a91e04ef6b22b026b"
/* The local device was removed, or is back. */
#define MESSAGE_DEVICE "f15c5bb86fffe1cbc42605680261c000"
/* The connection between a standby and its master. */
#define MESSAGE_REPLICA "7d7dc613dd7c43bc915e7cbd8b33abda"
/* sm_lid is not used. */
#define MESSAGE_SM_LID "3269bc67a47f80b67d728d3dc95c64c8"
/* Another MASTER ranks lower and does not hand over. */
#define MESSAGE_TWO_MASTERS "afb4880fc73b480b96483c65c94c79d4"
/* An alias GUID was refused. */
#define MESSAGE_ALIAS "35ecd9d8e3a944cfb3d9cb937bddb6a2"
/* An alias GUID was removed: another port has this GUID. */
#define MESSAGE_ALIAS_MISPLACED "c4e0b7d25f8a4b6e9a13d07f62ce8b95"
/* A drained node or port: routes avoid it, or it is isolated. */
#define MESSAGE_DRAINED "e55f0ab4db8296930585d24200a9fa68"

#endif
