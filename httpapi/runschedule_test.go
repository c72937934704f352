package httpapi_test

import "testing"

// TestRunScheduleOverHTTP: a schedule publishes once more and says which message; only POST does that, and only of one that is there.
func TestRunScheduleOverHTTP(t *testing.T) {
	m := startMail(t)
	m.want(200, "", "POST", "/v2/schedules/http://example.com/", "x", "Upstash-Cron", "0 3 1 1 *", "Upstash-Schedule-Id", "yearly")
	m.want(200, "", "POST", "/v2/schedules/yearly/pause", "")
	id, _ := m.object(m.want(200, "", "POST", "/v2/schedules/yearly/run", ""))["messageId"].(string)
	if got := m.object(m.want(200, "", "GET", "/v2/messages/"+id, "")); got["scheduleId"] != "yearly" || got["body"] != "x" {
		t.Errorf("the message: %v", got)
	}
	if s := m.object(m.want(200, "", "GET", "/v2/schedules/yearly", "")); s["isPaused"] != true || s["lastScheduleTime"] == nil {
		t.Errorf("the schedule: %v", s)
	}
	m.want(404, `{"error":"schedule none not found"}`, "POST", "/v2/schedules/none/run", "")
	m.want(405, "", "PATCH", "/v2/schedules/yearly/run", "")
	m.want(404, "", "GET", "/v2/schedules/yearly/run", "")
	if m.token = "wrong"; true {
		m.want(401, "", "POST", "/v2/schedules/yearly/run", "")
	}
}
