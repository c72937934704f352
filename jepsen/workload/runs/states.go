package runs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/trireme-dev/trireme/jepsen/testcluster"
	"github.com/trireme-dev/trireme/jepsen/workload/deliveries"
	"github.com/trireme-dev/trireme/workflow"
)

// States is runs that set their state together with commands and take updates, while calls fail, requests come twice and leaders are killed.
type States struct {
	Cluster *testcluster.Cluster
	Label   string
	// Runs is their number.
	Runs int
	// Failing is the part of calls that fail, in percent.
	Failing         int
	KillEvery, Down time.Duration
	// Patience bounds all runs together.
	Patience time.Duration
}

// StatesResult is the result of States.
type StatesResult struct {
	Runs, Kills, Accepted, Refused int
	Took                           time.Duration
}

// String is a line for people.
func (r StatesResult) String() string {
	return fmt.Sprintf("%d runs with a state in %v, %d leaders killed: %d updates accepted, %d refused", r.Runs, r.Took.Round(100*time.Millisecond), r.Kills, r.Accepted, r.Refused)
}

// stating is a States under way.
type stating struct {
	States
	app               *App
	accepted, refused atomic.Int64
}

// amounts are the updates of a run, in the order in which they are sent. Its state allows those up to 100.
var amounts = []int{40, 200, 50}

func (s *stating) run(n int) string { return fmt.Sprintf("wfr_%s_%d", s.Label, n) }

// workflow opens an account by a step that is refused at first, takes two updates, waits in vain for a third, and says what is left.
func (s *stating) workflow(a *App) []workflow.Definition {
	return []workflow.Definition{workflow.New("account", func(x *workflow.Context, _ []byte) (string, error) {
		workflow.Commit(x, "open", func(context.Context) (o workflow.Outcome[*int], err error) {
			a.ran(x.RunID, "open")
			o.State, o.Updates = map[string]any{"left": 100}, map[string]string{"spend": "@.update.amount <= @.state.left"}
			if a.Effects(x.RunID, "open") == 1 {
				o.State = map[string]any{"left": 1000} // with which the second update would be accepted
				o.Commands = []workflow.Command{{"IF", s.Label + ":nothing", "EXISTS"}}
			}
			return o, nil
		})
		left, waits := 100, []string{"first", "second", "third"}
		var got []string
		for i, name := range waits {
			timeout := time.Hour
			if i == len(waits)-1 {
				timeout = time.Second
			}
			update, err := workflow.Wait[struct{ Amount int }](x, name, "spend", timeout)
			if err != nil && !errors.Is(err, workflow.ErrTimeout) {
				return "", err
			}
			left -= update.Amount
			got = append(got, fmt.Sprint(update.Amount))
		}
		workflow.SetState(x, "close", map[string]any{"left": left})
		return strings.Join(got, " "), nil
	})}
}

// Run performs the runs and looks at what has become of their updates and states.
func (s States) Run(ctx context.Context) (out StatesResult, err error) {
	w := &stating{States: s}
	if w.app, err = NewApp(s.Cluster, w.workflow); err != nil {
		return out, err
	}
	defer w.app.Close()
	w.app.Fail(s.Failing)
	w.app.http.Transport = twice{w.app, w.app.http.Transport}
	killer := &deliveries.Killer{Cluster: s.Cluster, Down: s.Down}
	began := time.Now()
	err = whileKilling(ctx, killer, s.KillEvery, func(ctx context.Context) error { return all(ctx, s.Runs, w.one) })
	out = StatesResult{Runs: s.Runs, Kills: len(killer.Kills()), Accepted: int(w.accepted.Load()), Refused: int(w.refused.Load()), Took: time.Since(began)}
	return out, errors.Join(err, w.app.Problems())
}

// one performs one run.
func (s *stating) one(ctx context.Context, n int) error {
	id := s.run(n)
	if err := s.app.Start(ctx, "account", id, "", rights); err != nil {
		return err
	}
	for i, amount := range amounts {
		if err := s.update(ctx, id, i, amount); err != nil {
			return err
		}
	}
	l, err := s.app.Ended(ctx, id, s.Patience)
	if err != nil {
		return err
	}
	if l.State != "RUN_SUCCESS" || l.Response == nil || *l.Response != `"40 50 0"` {
		return fmt.Errorf("run %s: %s", id, show(l))
	}
	var state struct {
		State   struct{ Left int }
		Version int
	}
	if err := s.ask(ctx, http.MethodGet, id+"/state", "", "", func(status int, text []byte) error {
		return errors.Join(statusIs(status, text, http.StatusOK), json.Unmarshal(text, &state))
	}); err != nil {
		return err
	}
	if state.State.Left != 10 || state.Version != 2 {
		return fmt.Errorf("run %s has the state %+v: 10 of version 2 is wanted", id, state)
	}
	return nil
}

// update sends an update until it is answered. The run accepts it exactly if its rule holds for the state that its first step has set.
func (s *stating) update(ctx context.Context, id string, number, amount int) error {
	want, count := http.StatusOK, &s.accepted
	if amount > 100 {
		want, count = http.StatusConflict, &s.refused
	}
	body := fmt.Sprintf(`{"amount":%d}`, amount)
	err := s.ask(ctx, http.MethodPost, id+"/updates/spend", body, fmt.Sprintf("u-%d", number), func(status int, text []byte) error {
		if status != want && slices.Contains([]int{http.StatusOK, http.StatusConflict}, status) {
			return final{fmt.Errorf("run %s answers the update by %d with status %d: %s", id, amount, status, text)}
		}
		return statusIs(status, text, want) // before its first step the run accepts none
	})
	if err == nil {
		count.Add(1)
	}
	return err
}

// final is an error that no other try can mend.
type final struct{ error }

func statusIs(status int, text []byte, want int) error {
	if status != want {
		return fmt.Errorf("status %d: %s", status, text)
	}
	return nil
}

// ask asks one node after the other about a run until take is content.
func (s *stating) ask(ctx context.Context, method, path, body, update string, take func(int, []byte) error) error {
	headers := map[string]string{}
	if update != "" {
		headers["Svc-Update-Id"] = update
	}
	for end := time.Now().Add(s.Patience); ; deliveries.Sleep(ctx, 50*time.Millisecond) {
		status, text, err := s.app.Ask(ctx, method, "/v2/workflows/runs/"+path, headers, []byte(body))
		if err == nil {
			err = take(status, text)
		}
		var over final
		if err == nil || errors.As(err, &over) {
			return err
		}
		if time.Now().After(end) || ctx.Err() != nil {
			return fmt.Errorf("%s %s: %w", method, path, err)
		}
	}
}
