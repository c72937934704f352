package demoshop

import (
	"context"
	"encoding/json"
	"fmt"
)

// sample is a request that stores sample data.
type sample struct {
	path   string
	header map[string]string
	body   string
}

// sampleKeys are sample data of every type.
const sampleKeys = `[
["SET","greeting","Hello from Trireme"],
["SET","counter:visits","1042","NX"],
["SET","counter:orders","4700","NX"],
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

// samples returns the requests that Fill makes.
func (s *Shop) samples() []sample {
	return []sample{
		{"/pipeline", nil, sampleKeys},
		{"/v2/queues", nil, `{"queueName":"` + mailQueue + `","parallelism":2}`},
		{"/v2/topics/order-events/endpoints", nil, `{"endpoints":[{"name":"warehouse","url":"` + s.url + `/warehouse"},{"name":"billing","url":"` + s.url + `/billing"}]}`},
		{"/v2/schedules/" + s.url + "/reports", map[string]string{"Svc-Cron": "0 9 * * *", "Svc-Schedule-Id": "daily-report", "Svc-Label": label}, `{"report":"sales"}`},
		{"/v2/schedules/" + s.url + "/heartbeat", map[string]string{"Svc-Cron": "*/15 * * * *", "Svc-Schedule-Id": "heartbeat", "Svc-Label": label}, `{}`},
		{"/v2/publish/order-events", map[string]string{"Svc-Label": "order," + label}, `{"order":1001}`},
		{"/v2/publish/" + s.url + "/heartbeat", map[string]string{"Svc-Delay": "1h", "Svc-Label": "reminder," + label, "Svc-Deduplication-Id": "demo-reminder"}, `{"order":1002}`},
	}
}

// Fill stores sample data of every kind, and takes the first orders.
func (s *Shop) Fill(ctx context.Context) error {
	for _, one := range s.samples() {
		body, err := s.post(ctx, one.path, one.header, one.body)
		if err != nil {
			return fmt.Errorf("fill sample data: %w", err)
		}
		var rows []struct{ Error string }
		if one.path != "/pipeline" || json.Unmarshal(body, &rows) != nil {
			continue
		}
		for _, row := range rows {
			if row.Error != "" {
				return fmt.Errorf("fill sample data: %s", row.Error)
			}
		}
	}
	if err := s.takeOrders(ctx, firstOrders); err != nil {
		return fmt.Errorf("fill sample data: %w", err)
	}
	return nil
}
