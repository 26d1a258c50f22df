#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# The examples for Prometheus and Grafana. promtool accepts the alerts, and each alert has a test in which it fires and one
# in which it does not. Prometheus reads the metrics of a weftd on weftsim, evaluates the alerts, and answers each query of
# the dashboard. The first error of a port is seen by increase().
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"

examples=$root/examples/monitoring
dashboard=$examples/weft.dashboard.json

if [ -n "${SANITIZE:-}" ]; then
	echo "skip monitoring: the preload library cannot be instrumented"
	exit 0
fi

rules_are_right() {
	promtool check rules "$examples/weft.rules.yml" >promtool.txt 2>&1 || because "$(cat promtool.txt)" || return 1
	(cd "$examples" && promtool test rules weft.rules.test.yml) >promtool.txt 2>&1 || because "$(cat promtool.txt)"
}

# In the tests, "exp_alerts: []" follows an alert that does not fire.
each_alert_has_tests() {
	sed -n 's/^ *- alert: //p' "$examples/weft.rules.yml" | sort >alerts.txt
	[ -s alerts.txt ] || because "there are no alerts" || return 1
	perl -ne '$name = $1 if /alertname: (\w+)/; print "$name\n" if /exp_alerts:$/' "$examples/weft.rules.test.yml" | sort -u >fire.txt
	perl -ne '$name = $1 if /alertname: (\w+)/; print "$name\n" if /exp_alerts: \[\]/' "$examples/weft.rules.test.yml" | sort -u >silent.txt
	equal "alerts that fire in no test" "$(comm -23 alerts.txt fire.txt | xargs)" "" || return 1
	equal "alerts that are never silent in a test" "$(comm -23 alerts.txt silent.txt | xargs)" ""
}

# Each panel has an id and a place of its own, the data source that the user chooses, and queries; no two panels overlap.
dashboard_is_sound() {
	python3 - "$dashboard" <<-'END' >dashboard.txt 2>&1 || because "$(tail -n 1 dashboard.txt)"
		import json, sys

		board = json.load(open(sys.argv[1]))
		assert board["uid"] and board["title"] and board["schemaVersion"] >= 36, "no head"
		assert [v["name"] for v in board["templating"]["list"] if v["type"] == "datasource"] == ["datasource"], "no data source"
		ids, cells = set(), {}
		for panel in board["panels"]:
		    place, title = panel["gridPos"], panel["title"]
		    assert title and panel["id"] not in ids, "id of " + title
		    ids.add(panel["id"])
		    assert 0 <= place["x"] and place["x"] + place["w"] <= 24, "width of " + title
		    for x in range(place["x"], place["x"] + place["w"]):
		        for y in range(place["y"], place["y"] + place["h"]):
		            assert cells.setdefault((x, y), title) == title, title + " covers " + cells[x, y]
		    if panel["type"] == "row":
		        continue
		    assert panel["type"] in ("stat", "timeseries", "table"), "type of " + title
		    assert panel["datasource"]["uid"] == "${datasource}" and panel["targets"], "no query in " + title
		    assert len({t["refId"] for t in panel["targets"]}) == len(panel["targets"]), "refId in " + title
		    for target in panel["targets"]:
		        print(target["expr"])
	END
	[ "$(wc -l <dashboard.txt)" -ge 40 ] || because "the dashboard has $(wc -l <dashboard.txt) queries"
}

# Writes the metrics for the web server, whole or not at all. In the first quarter of an hour after a start, alerts about
# links are silent, so the start is made earlier.
scrape() {
	"$BUILD/weftctl" -s daemon.run/control.sock perf metrics >metrics.new &&
		sed -i 's/^weft_start_timestamp_seconds .*/weft_start_timestamp_seconds 1700000000/' metrics.new && mv metrics.new served/metrics
}

free_port() {
	python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

serve() {
	printf '%064d' 7 >key && chmod 600 key
	printf 'ha_listen = "127.0.0.1:%s";\nha_psk_file = "%s";\n' "$(free_port)" "$work/key" >weftd.conf
	mkdir served && start_weftsim fattree:radix=4,levels=2 && conf=weftd.conf start_weftd daemon host-0001 && wait_for 20 is_up daemon &&
		ctl daemon perf sweep >/dev/null && scrape || because "${reason:-weftd has no metrics}" || return 1
	web=$(free_port) && prometheus=$(free_port)
	(cd served && exec python3 -m http.server --bind 127.0.0.1 "$web") >web.log 2>&1 &
	pids[web]=$!
	sed 's/^\t//' >prometheus.yml <<-END
		global: {scrape_interval: 1s, evaluation_interval: 1s}
		rule_files: [$examples/weft.rules.yml]
		scrape_configs:
		  - job_name: weft
		    static_configs: [{targets: ["127.0.0.1:$web"]}]
	END
	prometheus --config.file=prometheus.yml --storage.tsdb.path=tsdb --web.listen-address="127.0.0.1:$prometheus" \
		--log.level=warn >prometheus.log 2>&1 &
	pids[prometheus]=$!
	wait_for 30 answered 'count(weft_port_errors_total)' || because "Prometheus has no samples: $(tail -n 2 prometheus.log)"
}

# ask EXPRESSION: writes the answer to answer.json.
ask() {
	python3 - "$prometheus" "$1" >answer.json 2>ask.err <<-'END'
		import sys, urllib.parse, urllib.request

		url = "http://127.0.0.1:%s/api/v1/query?%s" % (sys.argv[1], urllib.parse.urlencode({"query": sys.argv[2]}))
		print(urllib.request.urlopen(url, timeout=10).read().decode())
	END
}

# answered EXPRESSION: Prometheus has a result for it.
answered() {
	ask "$1" && [ "$(json 'scalar @{$_->{data}{result}}' <answer.json)" -gt 0 ]
}

# The series of a port is there before its first error.
first_error_is_seen() {
	sleep 2
	"$BUILD/weftsim" "do" 'count leaf-01 3 SymbolErrorCounter 400' 'count leaf-01 3 LinkDownedCounter 8' >do.out 2>&1 &&
		ctl daemon perf sweep >/dev/null && scrape || because "no errors: $(cat do.out)" || return 1
	wait_for 30 answered 'increase(weft_port_errors_total{node="leaf-01",port="3",counter="SymbolErrorCounter"}[15m]) > 300' ||
		because "increase() does not see them: $(cat answer.json)" || return 1
	wait_for 30 answered 'ALERTS{alertname="WeftLinkErrors",node="leaf-01",alertstate="firing"}' || because "no alert for the errors" || return 1
	wait_for 30 answered 'ALERTS{alertname="WeftLinkFlaps",node="leaf-01",port="3",alertstate="firing"}' || because "no alert for the link" || return 1
	ask 'ALERTS{alertname=~"WeftLinkErrors|WeftLinkFlaps",node!="leaf-01"}'
	equal "alerts for other ports" "$(json 'scalar @{$_->{data}{result}}' <answer.json)" 0
}

# Requests to the SA, so that all queries have an answer.
queries_are_answered() {
	local query unanswered=

	on host-0002 saquery -s >saquery.out 2>&1 && scrape && sleep 3
	while IFS= read -r query; do
		answered "$query" || unanswered+="$query; "
	done <dashboard.txt
	equal "queries without an answer" "$unanswered" ""
}

rules_are_evaluated() {
	python3 -c 'import sys, urllib.request; print(urllib.request.urlopen(sys.argv[1], timeout=10).read().decode())' \
		"http://127.0.0.1:$prometheus/api/v1/rules" >rules.json || because "no rules" || return 1
	equal "rules that Prometheus cannot evaluate" \
		"$(json 'map { $_->{name} } grep { $_->{health} ne "ok" } map { @{$_->{rules}} } @{$_->{data}{groups}}' <rules.json)" "" || return 1
	equal "rules" "$(json 'scalar map { @{$_->{rules}} } @{$_->{data}{groups}}' <rules.json)" "$(wc -l <alerts.txt)"
}

check "the alerts are valid, and their tests pass" rules_are_right
check "each alert has tests" each_alert_has_tests
check "the dashboard is sound" dashboard_is_sound
check "Prometheus reads the metrics" serve || finish
check "the first error of a port is seen" first_error_is_seen
check "the queries of the dashboard are answered" queries_are_answered
check "the alerts are evaluated" rules_are_evaluated
finish
