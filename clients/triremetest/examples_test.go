package triremetest_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/clients/triremetest"
)

// publish sends a request to /v2 and decodes the answer.
func publish(t *testing.T, s *triremetest.Server, path, body string, header map[string]string) (answer struct {
	MessageID  string `json:"messageId"`
	ScheduleID string `json:"scheduleId"`
}) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.MessagesToken)
	for name, value := range header {
		r.Header.Set(name, value)
	}
	p, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Body.Close()
	text, err := io.ReadAll(p.Body)
	if err != nil || p.StatusCode/100 != 2 || json.Unmarshal(text, &answer) != nil {
		t.Fatalf("%s: %s %v: %s", path, p.Status, err, text)
	}
	return answer
}

// command runs a Redis command and returns the JSON text of its result.
func command(t *testing.T, s *triremetest.Server, words ...string) string {
	t.Helper()
	body, err := json.Marshal(words)
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL, strings.NewReader(string(body)))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.Token)
	p, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Body.Close()
	var out struct {
		Result json.RawMessage `json:"result"`
		Error  string          `json:"error"`
	}
	if err := json.NewDecoder(p.Body).Decode(&out); err != nil || out.Error != "" {
		t.Fatalf("%v: %v %s", words, err, out.Error)
	}
	return string(out.Result)
}

// TestScheduleOverDaylightSaving: a schedule at nine in Berlin keeps to nine in Berlin when
// the clocks there change.
func TestScheduleOverDaylightSaving(t *testing.T) {
	t.Parallel()
	s := triremetest.Start(t)
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	s.AdvanceTo(t, time.Date(2027, 3, 26, 12, 0, 0, 0, berlin))
	sink := s.Sink("report")
	publish(t, s, "/v2/schedules/"+sink.URL, "", map[string]string{"Upstash-Cron": "CRON_TZ=Europe/Berlin 0 9 * * *"})
	s.AdvanceTo(t, time.Date(2027, 3, 30, 12, 0, 0, 0, berlin)) // the change is on the 28th
	got := sink.Received(t)
	if len(got) != 4 {
		t.Fatalf("%d deliveries in four days", len(got))
	}
	for i, r := range got {
		if want := time.Date(2027, 3, 27+i, 9, 0, 0, 0, berlin); r.At != want.UnixMilli() {
			t.Errorf("delivery %d at %v, want %v", i, time.UnixMilli(r.At).In(berlin), want)
		}
	}
}

// TestRetriesUntilDead: a destination that always fails is asked at the times of the
// documented backoff, and the message ends as a dead letter.
func TestRetriesUntilDead(t *testing.T) {
	t.Parallel()
	s := triremetest.Start(t)
	sink := s.Sink("broken")
	sink.Script(t, triremetest.Reply{Status: 500, Body: "no"})
	began := s.Now(t)
	m := publish(t, s, "/v2/publish/"+sink.URL, "order 17", map[string]string{"Upstash-Retries": "3", "Upstash-Retry-Delay": "pow(2, retried) * 1000"})
	s.Advance(t, time.Hour)
	got := sink.Received(t)
	if len(got) != 4 {
		t.Fatalf("%d attempts, want 1 and 3 retries", len(got))
	}
	for i, wait := range []time.Duration{0, 1, 3, 7} { // 1, 2 and 4 seconds later
		if at := time.UnixMilli(got[i].At).Sub(began); at != wait*time.Second {
			t.Errorf("attempt %d after %v, want %v", i, at, wait*time.Second)
		}
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/v2/dlq?messageId="+m.MessageID, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.MessagesToken)
	p, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Body.Close()
	var dead struct {
		Messages []struct {
			MessageID string `json:"messageId"`
		} `json:"messages"`
	}
	if err := json.NewDecoder(p.Body).Decode(&dead); err != nil || len(dead.Messages) != 1 || dead.Messages[0].MessageID != m.MessageID {
		t.Errorf("dead letters: %+v, %v", dead, err)
	}
}

// TestRateLimit: three requests a minute for a user, counted in a key that expires.
func TestRateLimit(t *testing.T) {
	t.Parallel()
	s := triremetest.Start(t)
	allowed := func() bool {
		n := command(t, s, "INCR", "requests:ann")
		if n == "1" {
			command(t, s, "EXPIRE", "requests:ann", "60")
		}
		return n <= "3"
	}
	for i := range 5 {
		if got := allowed(); got != (i < 3) {
			t.Errorf("request %d: %v", i, got)
		}
	}
	s.Advance(t, 59*time.Second)
	if allowed() {
		t.Error("allowed before the minute was over")
	}
	s.Advance(t, time.Second)
	if !allowed() {
		t.Error("refused after the minute")
	}
}

// TestManySchedules: each of many schedules fires once an hour, in order, whatever steps
// time is moved in; and what one server does is not seen by another.
func TestManySchedules(t *testing.T) {
	t.Parallel()
	s, other := triremetest.Start(t), triremetest.Start(t)
	const schedules, hours = 20, 25
	sink := s.Sink("ticks")
	for i := range schedules {
		publish(t, s, "/v2/schedules/"+sink.URL+"?n="+fmt.Sprint(i), "", map[string]string{"Upstash-Cron": fmt.Sprint(i, " * * * *")})
	}
	now := s.Now(t)
	s.AdvanceTo(t, now.Truncate(time.Hour).Add(time.Hour))
	before := len(sink.Received(t))
	for range hours {
		s.Advance(t, time.Hour)
	}
	got := sink.Received(t)[before:]
	if len(got) != schedules*hours {
		t.Errorf("%d deliveries, want %d", len(got), schedules*hours)
	}
	seen, last := map[string]bool{}, int64(0)
	for _, r := range got {
		key := fmt.Sprint(r.Path, r.At)
		if seen[key] || r.At < last {
			t.Errorf("%s twice or out of order", key)
		}
		seen[key], last = true, r.At
	}
	if n := len(other.Deliveries(t)); n != 0 {
		t.Errorf("%d deliveries of another server", n)
	}
	s.Reset(t)
	s.Advance(t, 2*time.Hour)
	if n := len(s.Deliveries(t)); n != 0 {
		t.Errorf("%d deliveries after a reset", n)
	}
}

// TestAuto: time moves by itself to what is due, and stops when nothing is.
func TestAuto(t *testing.T) {
	t.Parallel()
	s := triremetest.Start(t)
	sink := s.Sink("later")
	began := s.Now(t)
	s.Auto(t)
	m := publish(t, s, "/v2/publish/"+sink.URL, "x", map[string]string{"Upstash-Delay": "365d"})
	for len(s.Deliveries(t, "messageId", m.MessageID)) == 0 {
		s.WaitIdle(t)
	}
	if passed := s.Now(t).Sub(began); passed != 365*24*time.Hour {
		t.Errorf("%v have passed", passed)
	}
}
