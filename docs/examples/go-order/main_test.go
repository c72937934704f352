package main

import (
	"errors"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/clients/triremetest"
	"github.com/trireme-dev/trireme/workflow"
)

// start serves the shop to a server of the test's own, and returns a client of that.
func start(t *testing.T, shop *Shop) (*triremetest.Server, *workflow.Client) {
	s := triremetest.Start(t)
	o := workflow.Options{URL: s.URL, Token: s.MessagesToken, CurrentSigningKey: s.CurrentSigningKey, NextSigningKey: s.NextSigningKey}
	app := httptest.NewServer(workflow.Handler(o, shop.Workflow()))
	t.Cleanup(app.Close)
	o.AppURL = app.URL
	return s, workflow.NewClient(o)
}

func TestOrder(t *testing.T) {
	shop := NewShop()
	s, client := start(t, shop)
	order := shop.Workflow()
	run, err := order.Trigger(t.Context(), client, Order{Item: "oar", Cents: 1200, Card: "4242"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	s.Advance(t, 23*time.Hour)
	if state, err := client.Run(t.Context(), run.RunID); err != nil || state.State != workflow.RunStarted || shop.Reserved() != 1 {
		t.Errorf("after 23 hours: %+v %v", state, err)
	}
	s.Advance(t, time.Hour)
	receipt, err := order.Result(t.Context(), client, run.RunID)
	if err != nil || receipt != (Receipt{"payment of " + run.RunID, 1200}) {
		t.Errorf("%+v %v", receipt, err)
	}
}

func TestDeclinedOrder(t *testing.T) {
	shop := NewShop()
	s, client := start(t, shop)
	order := shop.Workflow()
	run, err := order.Trigger(t.Context(), client, Order{Item: "oar", Cents: 1200}, nil)
	if err != nil {
		t.Fatal(err)
	}
	s.Advance(t, 24*time.Hour)
	if _, err := order.Result(t.Context(), client, run.RunID); !errors.Is(err, workflow.ErrFailed) {
		t.Errorf("the result: %v", err)
	}
	if n := shop.Reserved(); n != 0 {
		t.Errorf("%d items are reserved", n)
	}
}
