package main

import (
	"net/http/httptest"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/clients/triremetest"
	"github.com/trireme-dev/trireme/workflow"
)

func TestReport(t *testing.T) {
	s := triremetest.Start(t)
	weather := s.Sink("weather")
	weather.Script(t, triremetest.Reply{Status: 503}, triremetest.Reply{Body: `{"celsius":21}`}) // it fails once
	o := workflow.Options{URL: s.URL, Token: s.MessagesToken, CurrentSigningKey: s.CurrentSigningKey, NextSigningKey: s.NextSigningKey}
	report := Report(weather.URL)
	app := httptest.NewServer(workflow.Handler(o, report))
	defer app.Close()
	o.AppURL = app.URL
	client := workflow.NewClient(o)
	run, err := report.Trigger(t.Context(), client, Question{"Oslo"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	s.Advance(t, time.Minute)
	if got, err := report.Result(t.Context(), client, run.RunID); got != "4000 people in Oslo have 21 degrees" || err != nil {
		t.Errorf("%q %v", got, err)
	}
	if n := len(weather.Received(t)); n != 2 {
		t.Errorf("the weather was asked %d times", n)
	}
}
