package attack

import (
	"context"
	"fmt"
	"net/http"
	"strings"
)

// nowhere is a destination of messages that are never delivered: they are delayed.
const nowhere = "http://127.0.0.1:1/"

// delayed is a batch of so many messages that wait for a day.
func delayed(n int) hogRequest {
	one := `{"destination":"` + nowhere + `","headers":{"Upstash-Delay":"1d"},"body":"b"}`
	return hogRequest{path: "/v2/batch", body: "[" + join(n, func(int) string { return one }) + "]"}
}

// backlog is the number of waiting messages for acts that go through all of them: as many as fit the attacker's memory.
const backlog = 200_000

func members(i int) string { return fmt.Sprintf("member:%d", i) }

// argv is a command of parts that are made by a function.
func argv(n int, part func(i int) []string, first ...string) hogRequest {
	for i := range n {
		first = append(first, part(i)...)
	}
	return command(first...)
}

var (
	sortedSets = all(prepared(4, func(i int) hogRequest {
		return argv(7000, func(k int) []string { return []string{fmt.Sprint(k), members(7000*(i/2) + k)} }, "ZADD", fmt.Sprint("z", i%2))
	}), prepared(4, func(i int) hogRequest {
		return argv(5000, func(k int) []string { return []string{fmt.Sprint(5000*i + k)} }, "RPUSH", "numbers")
	}))
	manyKeys = prepared(20, func(i int) hogRequest {
		return argv(5000, func(k int) []string { return []string{fmt.Sprint("key:", 5000*i+k), "v"} }, "MSET")
	})
	documents = all(prepared(1, func(int) hogRequest {
		return command("SEARCH.CREATE", "texts", "ON", "JSON", "PREFIX", "1", "doc:", "SCHEMA", "text", "TEXT", "n", "U64", "FAST")
	}), prepared(2000, func(i int) hogRequest {
		return command("JSON.SET", fmt.Sprint("doc:", i), "$", fmt.Sprintf(`{"n":%d,"text":"%s"}`, i, strings.Repeat(fmt.Sprintf("word%d another%d ", i%97, i%89), 20)))
	}))
)

var neighbours = []*hog{
	{name: "set-9mb", every: 4, about: "SET of 9 MB", request: func(i int) hogRequest { return command("SET", fmt.Sprint("k", i%4), strings.Repeat("x", 9_000_000)) }},
	{name: "set-1mb", every: 32, about: "SET of 1 MB", request: func(i int) hogRequest { return command("SET", fmt.Sprint("k", i%32), strings.Repeat("x", 1_000_000)) }},
	{name: "group", about: "publish to a group of 5,000 endpoints", before: prepared(5, func(i int) hogRequest {
		return hogRequest{path: "/v2/topics/g/endpoints", body: `{"endpoints":[` + join(1000, func(k int) string { return fmt.Sprintf(`{"url":"%s%d"}`, nowhere, 1000*i+k) }) + "]}"}
	}), request: func(int) hogRequest {
		return hogRequest{path: "/v2/batch", body: `[{"destination":"g","headers":{"Upstash-Delay":"1d"},"body":"b"}]`}
	}},
	{name: "batch", about: "batches of 1,000 messages", request: func(int) hogRequest { return delayed(1000) }},
	{name: "bulk-cancel", about: "cancels by a filter that matches nothing, of 200,000 messages", before: prepared(backlog/1000, func(int) hogRequest { return delayed(1000) }),
		request: func(int) hogRequest { return hogRequest{method: http.MethodDelete, path: "/v2/messages?label=none"} }},
	{name: "events", about: "events by a filter that matches nothing, of 200,000 messages", before: prepared(backlog/1000, func(int) hogRequest { return delayed(1000) }),
		request: func(int) hogRequest { return hogRequest{method: http.MethodGet, path: "/v2/events?label=none"} }},
	{name: "schedules", about: "1,000 schedules, each second", before: prepared(1000, func(i int) hogRequest {
		return hogRequest{method: http.MethodPost, path: "/v2/schedules/" + nowhere + fmt.Sprint(i), header: http.Header{"Upstash-Cron": {"@every 1s"}, "Upstash-Delay": {"1d"}}}
	}), hold: func(ctx context.Context, _ *hogPart) error { <-ctx.Done(); return nil }},
	{name: "json-numincrby", about: "JSON.NUMINCRBY of 10,000 numbers", before: prepared(1, func(int) hogRequest {
		return command("JSON.SET", "j", "$", "["+join(10_000, func(int) string { return "1" })+"]")
	}), request: func(int) hogRequest { return command("JSON.NUMINCRBY", "j", "$..*", "1") }},
	{name: "json-set", every: 16, about: "JSON.SET of 10,000 values", request: func(i int) hogRequest {
		return command("JSON.SET", fmt.Sprint("j", i%16), "$", "["+join(10_000, func(int) string { return "1" })+"]")
	}},
	{name: "pexpire", about: "scripts of 3,500 PEXPIRE, what a script's budget allows", before: manyKeys, request: func(i int) hogRequest {
		return command("EVAL", "for i = 0, 3499 do redis.call('PEXPIRE', 'key:'..i, 1000 + i) end", "0")
	}},
	{name: "mset", about: "MSET of 10,000 keys", request: func(int) hogRequest {
		return argv(10_000, func(k int) []string { return []string{fmt.Sprint("key:", k), "v"} }, "MSET")
	}},
	{name: "zunionstore", about: "ZUNIONSTORE of two sets of 14,000 members, about its budget", before: sortedSets, request: func(int) hogRequest { return command("ZUNIONSTORE", "d", "2", "z0", "z1") }},
	{name: "sort-store", about: "SORT of 20,000 elements with STORE, about its budget", before: sortedSets, request: func(int) hogRequest { return command("SORT", "numbers", "DESC", "STORE", "d") }},
	{name: "eval", about: "scripts at their budget", request: func(int) hogRequest { return command("EVAL", "while true do end", "0") }},
	{name: "search-fuzzy", every: 97, about: "fuzzy searches", before: documents, request: func(i int) hogRequest {
		return command("SEARCH.QUERY", "texts", fmt.Sprintf(`{"text":{"$fuzzy":{"value":"wrod%d","distance":2}}}`, i%97))
	}},
	{name: "search-regex", about: "searches by a regular expression", before: documents, request: func(int) hogRequest {
		return command("SEARCH.QUERY", "texts", `{"text":{"$regex":".*o.*d.*7.*"}}`)
	}},
	{name: "scan", about: "SCAN COUNT 100,000 of 100,000 keys", before: manyKeys, request: func(int) hogRequest { return command("SCAN", "0", "COUNT", "100000") }},
	{name: "keys", about: "KEYS of 100,000 keys", before: manyKeys, request: func(int) hogRequest { return command("KEYS", "*9*9*") }},
	{name: "lrange", about: "LRANGE of 8 MB", before: prepared(8, func(int) hogRequest {
		return argv(1000, func(int) []string { return []string{strings.Repeat("e", 1000)} }, "RPUSH", "l")
	}), request: func(int) hogRequest { return command("LRANGE", "l", "0", "-1") }},
	{name: "acl", every: 50, about: "ACL SETUSER and DELUSER", request: func(i int) hogRequest {
		return command("ACL", "SETUSER", fmt.Sprint("u", i%50), "reset", "on", fmt.Sprint(">", i), "~a*", "~*b", "+@all", "-@dangerous")
	}},
	{name: "monitor", about: "60 connections with MONITOR beside commands", hold: func(ctx context.Context, p *hogPart) error {
		return holdOpen(ctx, p, 60, []string{"MONITOR"})
	}},
	{name: "connections-2500", about: "2,500 RESP connections that ask in turn", hold: func(ctx context.Context, p *hogPart) error {
		return holdOpen(ctx, p, 2500, []string{"PING"})
	}},
}

// holdOpen opens connections that log in and send one command each, and keeps them open. Some clients send
// commands meanwhile.
func holdOpen(ctx context.Context, p *hogPart, n int, args []string) error {
	var open []*respConn
	defer func() {
		for _, c := range open {
			c.Close()
		}
	}()
	for i := range n {
		c, err := dialRESP(p.RESP[i%len(p.RESP)])
		if err != nil {
			return err
		}
		open = append(open, c)
		for _, line := range [][]string{{"AUTH", Attacker + "/default", p.Token}, args} {
			if got, err := c.first(line...); err != nil || !strings.HasPrefix(got, "+") {
				return fmt.Errorf("%s on connection %d: %q, %v", line[0], i, got, err)
			}
		}
		if ctx.Err() != nil {
			break
		}
	}
	beside := make([]hogRequest, 100)
	for i := range beside {
		beside[i] = command("SET", fmt.Sprint("k", i), "v")
	}
	p.ask(ctx, beside)
	return nil
}
