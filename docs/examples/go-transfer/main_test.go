package main

import (
	"context"
	"errors"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/clients/triremetest"
	"github.com/trireme-dev/trireme/workflow"
)

// redis runs a command over HTTP.
func redis(ctx context.Context, s *triremetest.Server, words ...any) (result string, err error) {
	var out struct{ Result any }
	c := workflow.NewClient(workflow.Options{URL: s.URL, Token: s.Token})
	err = c.Do(ctx, "POST", "/", nil, words, &out)
	result, _ = out.Result.(string)
	return result, err
}

func TestMove(t *testing.T) {
	s := triremetest.Start(t)
	if _, err := redis(t.Context(), s, "MSET", "account:ann", 100, "account:bob", 0); err != nil {
		t.Fatal(err)
	}
	stolen := false
	move := Move(func(ctx context.Context, account string) (int, error) {
		text, err := redis(ctx, s, "GET", "account:"+account)
		if err != nil {
			return 0, err
		}
		if !stolen { // between the look and the move, somebody else takes ten
			stolen = true
			if _, err := redis(ctx, s, "DECRBY", "account:ann", 10); err != nil {
				return 0, err
			}
		}
		return strconv.Atoi(text)
	})
	o := workflow.Options{URL: s.URL, Token: s.MessagesToken, CurrentSigningKey: s.CurrentSigningKey, NextSigningKey: s.NextSigningKey}
	app := httptest.NewServer(workflow.Handler(o, move))
	defer app.Close()
	o.AppURL = app.URL
	client := workflow.NewClient(o)
	options := &workflow.RunOptions{CommitAs: "default", CommitToken: s.AdminToken}
	run, err := move.Trigger(t.Context(), client, Transfer{"ann", "bob", 30}, options)
	if err != nil {
		t.Fatal(err)
	}
	s.Advance(t, time.Hour)
	if left, err := move.Result(t.Context(), client, run.RunID); left != 60 || err != nil {
		t.Errorf("%d are left, %v", left, err)
	}
	for account, want := range map[string]string{"ann": "60", "bob": "30"} {
		if got, err := redis(t.Context(), s, "GET", "account:"+account); got != want || err != nil {
			t.Errorf("%s has %s, want %s: %v", account, got, want, err)
		}
	}
	if run, err = move.Trigger(t.Context(), client, Transfer{"ann", "bob", 61}, options); err != nil {
		t.Fatal(err)
	}
	s.Advance(t, time.Hour)
	if _, err := move.Result(t.Context(), client, run.RunID); !errors.Is(err, workflow.ErrFailed) || !strings.Contains(err.Error(), "ann has 60, not 61") {
		t.Errorf("more than there is: %v", err)
	}
}
