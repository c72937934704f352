package view_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/httpapi/view"
)

var salt = []byte("0123456789abcdef")

// TestTextIsCutBetweenCharacters: a cut text is valid UTF-8, at most as long as allowed, and a prefix of the whole one.
func TestTextIsCutBetweenCharacters(t *testing.T) {
	const text = "aé€😀z"
	for trim := range len(text) + 2 {
		got := view.Redactor{Trim: trim}.Answer([]byte(text))
		if len(got) > trim || !utf8.ValidString(got) || !strings.HasPrefix(text, got) {
			t.Errorf("cut to %d bytes: %q", trim, got)
		}
		if trim-len(got) >= utf8.UTFMax {
			t.Errorf("cut to %d bytes: %q has lost a whole character too many", trim, got)
		}
	}
	if got := (view.Redactor{Trim: -1}).Answer([]byte(text)); got != text {
		t.Errorf("uncut: %q", got)
	}
	if got := (view.Redactor{Trim: -1}).Answer([]byte("a\xff\xfeb")); got != "a\uFFFDb" {
		t.Errorf("bytes that are no text: %q", got)
	}
}

// TestBody: bytes that are no text are shown in base64, unless the body is hidden.
func TestBody(t *testing.T) {
	hide := &queue.Redaction{Body: true, Salt: salt}
	for name, c := range map[string]struct {
		hide        *queue.Redaction
		body        string
		text, coded string
	}{
		"text":              {nil, "hello", "hello", ""},
		"nothing":           {nil, "", "", ""},
		"bytes":             {nil, "\xff\x00", "", "/wA="},
		"hidden text":       {hide, "hello", hide.Redacted("hello"), ""},
		"hidden bytes":      {hide, "\xff\x00", hide.Redacted("\xff\x00"), ""},
		"hidden nothing":    {hide, "", "", ""},
		"only header":       {&queue.Redaction{Header: true, Salt: salt}, "hello", "hello", ""},
		"hidden, old style": {&queue.Redaction{Body: true}, "hello", "REDACTED", ""},
	} {
		text, coded := view.Redactor{Hide: c.hide, Trim: -1}.Body([]byte(c.body))
		if text != c.text || coded != c.coded {
			t.Errorf("%s: %q and %q, want %q and %q", name, text, coded, c.text, c.coded)
		}
		if c.hide != nil && c.hide.Body && c.body != "" && strings.Contains(text, c.body) {
			t.Errorf("%s: the hidden body is shown", name)
		}
	}
}

// TestHiddenValues: equal values look equal within one salt, different ones differ, and another salt shows others.
func TestHiddenValues(t *testing.T) {
	one, other := view.Redactor{Hide: &queue.Redaction{Body: true, Salt: salt}, Trim: -1}, view.Redactor{Hide: &queue.Redaction{Body: true, Salt: []byte("another salt....")}, Trim: -1}
	switch {
	case one.Text([]byte("a")) != one.Text([]byte("a")):
		t.Error("equal values look different")
	case one.Text([]byte("a")) == one.Text([]byte("b")):
		t.Error("different values look equal")
	case one.Text([]byte("a")) == other.Text([]byte("a")):
		t.Error("the salt does not matter")
	}
	if got := one.Answer([]byte("what a destination said")); got != "what a destination said" {
		t.Errorf("the answer of a destination is hidden: %q", got)
	}
}

// TestHeader: names are canonical, values of one name stay in order, and only what is named is hidden.
func TestHeader(t *testing.T) {
	list := []queue.Field{{Name: "x-one", Value: "1"}, {Name: "X-Two", Value: "2"}, {Name: "X-ONE", Value: "3"}}
	if got, want := view.Header(list), map[string][]string{"X-One": {"1", "3"}, "X-Two": {"2"}}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := view.Header(nil); got != nil {
		t.Errorf("no header is %v", got)
	}
	hide := &queue.Redaction{Names: []string{"x-one"}, Salt: salt}
	want := map[string][]string{"X-One": {hide.Redacted("1"), hide.Redacted("3")}, "X-Two": {"2"}}
	if got := (view.Redactor{Hide: hide}).Header(list[:1], list[1:]); !reflect.DeepEqual(got, want) {
		t.Errorf("one hidden: %v", got)
	}
	all := &queue.Redaction{Header: true, Salt: salt}
	for name, values := range (view.Redactor{Hide: all}).Header(list) {
		for _, v := range values {
			if !strings.HasPrefix(v, "REDACTED:") {
				t.Errorf("%s is shown as %q though all are hidden", name, v)
			}
		}
	}
}

// TestRedact hides in a header that was shown before, but not the names by which clients find a run.
func TestRedact(t *testing.T) {
	header := map[string][]string{"X-Secret": {"a", "b"}, "X-Open": {"c"}, "Upstash-Workflow-Runid": {"wfr_1"}}
	all := &queue.Redaction{Header: true, Salt: salt}
	want := map[string][]string{"X-Secret": {all.Redacted("a"), all.Redacted("b")}, "X-Open": {all.Redacted("c")}, "Upstash-Workflow-Runid": {"wfr_1"}}
	if got := (view.Redactor{Hide: all}).Redact(header); !reflect.DeepEqual(got, want) {
		t.Errorf("all hidden: %v", got)
	}
	one := &queue.Redaction{Names: []string{"x-secret"}, Salt: salt}
	want["X-Secret"], want["X-Open"] = []string{one.Redacted("a"), one.Redacted("b")}, []string{"c"}
	if got := (view.Redactor{Hide: one}).Redact(header); !reflect.DeepEqual(got, want) {
		t.Errorf("one hidden: %v", got)
	}
	if got := (view.Redactor{}).Redact(header); !reflect.DeepEqual(got, header) {
		t.Errorf("nothing hidden: %v", got)
	}
	if header["X-Secret"][0] != "a" {
		t.Error("the header that was given has changed")
	}
}

// TestOptionsShowWhatIsSet: members without a value are left out of the JSON, and hidden headers are hidden in callbacks too.
func TestOptionsShowWhatIsSet(t *testing.T) {
	n, h := view.NewOptions(&queue.Options{}, "")
	if text, err := json.Marshal(n); err != nil || string(text) != `{"method":"POST"}` {
		t.Errorf("empty options are %s, %v", text, err)
	}
	if text, err := json.Marshal(h); err != nil || string(text) != `{}` {
		t.Errorf("empty callback headers are %s, %v", text, err)
	}
	hide := &queue.Redaction{Names: []string{"Authorization"}, Salt: salt}
	o := &queue.Options{
		Method: "PUT", Queue: "orders", CommitAs: "shop", RetryDelay: "1000", Labels: []string{"first", "second"}, Redact: hide,
		Header:     []queue.Field{{Name: "Authorization", Value: "Bearer x"}, {Name: "X-A", Value: "1"}},
		Flow:       &queue.FlowControl{Key: "k", Parallelism: 2, Rate: 3, Period: 60_000, Burst: 4},
		Precedence: &queue.Precedence{Priority: 7, Tenant: "acme", Weight: 3, Cost: 5},
		Callback:   &queue.Callback{URL: "https://a.example", Options: queue.Options{Header: []queue.Field{{Name: "authorization", Value: "Bearer y"}}}},
		Failure:    &queue.Callback{URL: "https://b.example"},
	}
	n, h = view.NewOptions(o, "10.0.0.9")
	want := view.Options{
		Method: "PUT", QueueName: "orders", RetryDelayExpression: "1000", Label: "first", Labels: o.Labels, CallerIP: "10.0.0.9", CommitAs: "shop",
		Header:         map[string][]string{"Authorization": {hide.Redacted("Bearer x")}, "X-A": {"1"}},
		FlowControlKey: "k", Parallelism: 2, Rate: 3, Period: 60, Burst: 4, Priority: 7, Tenant: "acme", Weight: 3, Cost: 5, Callback: "https://a.example", FailureCallback: "https://b.example",
	}
	if !reflect.DeepEqual(n, want) {
		t.Errorf("got %+v, want %+v", n, want)
	}
	if got := h.CallbackHeader["Authorization"]; !reflect.DeepEqual(got, []string{hide.Redacted("Bearer y")}) || h.FailureCallbackHeader != nil {
		t.Errorf("callback headers are %v", h)
	}
}

// TestPeriodIsAtLeastASecond: the API counts in seconds, the log in milliseconds.
func TestPeriodIsAtLeastASecond(t *testing.T) {
	for period, want := range map[int64]int64{0: 1, 1: 1, 999: 1, 1000: 1, 1999: 1, 2000: 2, 3_600_000: 3600} {
		if n, _ := view.NewOptions(&queue.Options{Flow: &queue.FlowControl{Key: "k", Period: period}}, ""); n.Period != want {
			t.Errorf("%d ms are shown as %d s, want %d", period, n.Period, want)
		}
	}
}

// TestCallbackInfo: an answer is shown uncut or cut, but never hidden.
func TestCallbackInfo(t *testing.T) {
	show := view.Redactor{Hide: &queue.Redaction{Body: true, Header: true, Salt: salt}, Trim: 3}
	if got := view.NewCallbackInfo("CREATED", nil, show); !reflect.DeepEqual(got, &view.CallbackInfo{State: "CREATED"}) {
		t.Errorf("without an answer: %+v", got)
	}
	answer := &queue.Response{Status: 500, Header: []queue.Field{{Name: "x-a", Value: "1"}}, Body: []byte("broken")}
	want := &view.CallbackInfo{State: "ERROR", ResponseStatus: 500, ResponseBody: "bro", ResponseHeaders: map[string][]string{"X-A": {"1"}}}
	if got := view.NewCallbackInfo("ERROR", answer, show); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// TestFirst checks the first label, which old clients read.
func TestFirst(t *testing.T) {
	if view.First(nil) != "" || view.First([]string{"a", "b"}) != "a" {
		t.Error("the first text is another")
	}
}
