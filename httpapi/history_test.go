package httpapi_test

import "testing"

// TestHistorySaysHowFarItGoes: without events there is none that is the oldest; with some there is, in the database that was asked.
func TestHistorySaysHowFarItGoes(t *testing.T) {
	m := startMail(t)
	oldest := func() (events, runs any) {
		t.Helper()
		both := m.object(m.want(200, "", "GET", "/v2/history", ""))
		e, r := both["events"].(map[string]any), both["runs"].(map[string]any)
		if e["boundedBy"] != "nothing" || r["boundedBy"] != "nothing" || e["retentionMs"] != float64(14*86400_000) || r["maxBytes"] != float64(8<<30) {
			t.Errorf("%v", both)
		}
		return e["oldest"], r["oldest"]
	}
	if events, runs := oldest(); events != nil || runs != nil {
		t.Errorf("nothing has happened, and the oldest are %v and %v", events, runs)
	}
	m.want(200, "", "POST", "/v2/publish/https://example.com/hook", "{}")
	if events, runs := oldest(); events == nil || runs != nil {
		t.Errorf("after a message the oldest are %v and %v", events, runs)
	}
	m.want(405, "", "POST", "/v2/history", "")
}
