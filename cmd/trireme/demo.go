package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// demoRequest is a request that stores sample data.
type demoRequest struct {
	path   string
	header map[string]string
	body   string
}

// demoKeys are sample data of every type.
const demoKeys = `[
["SET","greeting","Hello from Trireme"],
["SET","counter:visits","1042"],
["SET","session:7f3a","{\"user\":\"ann\",\"since\":\"2026-11-22T09:00:00Z\"}","EX","86400"],
["HSET","user:1","name","Ann Becker","city","Bonn","plan","team"],
["HSET","user:2","name","Ben Okafor","city","Lagos","plan","free"],
["HSET","user:3","name","Chen Li","city","Taipei","plan","team"],
["HEXPIRE","user:2","86400","FIELDS","1","plan"],
["JSON.SET","order:1001","$","{\"customer\":\"user:1\",\"items\":[{\"sku\":\"oar-3\",\"count\":170},{\"sku\":\"sail-1\",\"count\":2}],\"paid\":true}"],
["JSON.SET","order:1002","$","{\"customer\":\"user:3\",\"items\":[{\"sku\":\"ram-1\",\"count\":1}],\"paid\":false}"],
["DEL","queue:emails","log:deploys"],
["RPUSH","queue:emails","welcome:1","welcome:2","invoice:1001"],
["SADD","tags:featured","bronze","cedar","linen"],
["ZADD","leaderboard","512","ann","377","ben","610","chen"],
["XADD","log:deploys","*","version","0.1.0","by","ann"],
["XADD","log:deploys","*","version","0.2.0","by","chen"],
["XGROUP","CREATE","log:deploys","auditors","0"],
["SETBIT","active:monday","7","1"],
["SETBIT","active:monday","12","1"],
["PFADD","visitors:today","ann","ben","chen","dora"]
]`

// demoRequests returns requests that store sample keys and publish messages to this node, of which
// some fail.
func demoRequests(url string) []demoRequest {
	form := map[string]string{"Content-Type": "application/json"}
	with := func(more ...string) map[string]string {
		h := map[string]string{"Content-Type": "application/json"}
		for i := 0; i < len(more); i += 2 {
			h[more[i]] = more[i+1]
		}
		return h
	}
	list := []demoRequest{
		{"/pipeline", form, demoKeys},
		{"/v2/queues", form, `{"queueName":"emails","parallelism":2}`},
		{"/v2/topics/order-events/endpoints", form, `{"endpoints":[{"name":"warehouse","url":"` + url + `/livez"},{"name":"billing","url":"` + url + `/readyz"}]}`},
		{"/v2/schedules/" + url + "/livez", with("Svc-Cron", "0 9 * * *", "Svc-Schedule-Id", "daily-report", "Svc-Method", "GET"), ""},
		{"/v2/schedules/" + url + "/readyz", with("Svc-Cron", "*/15 * * * *", "Svc-Schedule-Id", "heartbeat", "Svc-Method", "GET", "Svc-Label", "heartbeat"), ""},
		{"/v2/publish/order-events", with("Svc-Method", "GET", "Svc-Label", "order"), `{"order":1001}`},
		{"/v2/publish/" + url + "/livez", with("Svc-Method", "GET", "Svc-Delay", "1h", "Svc-Label", "reminder"), `{"order":1002}`},
		{"/v2/publish/" + url + "/v2/nothing-here", with("Svc-Retries", "0", "Svc-Label", "invoice"), `{"order":1002,"amount":"4.50"}`},
		{"/v2/publish/" + url + "/v2/nothing-here", with("Svc-Retries", "3", "Svc-Label", "invoice", "Svc-Flow-Control-Key", "billing", "Svc-Flow-Control-Value", "parallelism=1"), `{"order":1003}`},
		{"/v2/trigger/" + url + "/v2/no-workflow-here", with("Svc-Label", "onboarding"), `{"user":"user:2"}`},
	}
	for i := range 6 {
		list = append(list, demoRequest{"/v2/enqueue/emails/" + url + "/livez", with("Svc-Method", "GET", "Svc-Label", "email"), fmt.Sprintf(`{"to":"user:%d"}`, i%3+1)})
	}
	return list
}

// demo fills the node with sample data, by its own API.
func (dn *devNode) demo(ctx context.Context) error {
	for _, one := range demoRequests(dn.url) {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, dn.url+one.path, strings.NewReader(one.body))
		if err != nil {
			return fmt.Errorf("fill sample data: %w", err)
		}
		for name, value := range one.header { // unordered: headers are
			r.Header.Set(name, value)
		}
		r.Header.Set("Authorization", "Bearer "+dn.tokens.Admin)
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			return fmt.Errorf("fill sample data: %w", err)
		}
		body, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		switch {
		case err != nil:
			return fmt.Errorf("fill sample data: %w", err)
		case answer.StatusCode >= http.StatusBadRequest:
			return fmt.Errorf("fill sample data: %s answers %d %s", one.path, answer.StatusCode, bytes.TrimSpace(body))
		}
		var rows []struct{ Error string }
		if one.path == "/pipeline" && json.Unmarshal(body, &rows) == nil {
			for _, row := range rows {
				if row.Error != "" {
					return fmt.Errorf("fill sample data: %s", row.Error)
				}
			}
		}
	}
	return nil
}
