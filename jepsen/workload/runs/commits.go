package runs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/trireme-dev/trireme/jepsen/history"
	"github.com/trireme-dev/trireme/jepsen/testcluster"
	"github.com/trireme-dev/trireme/jepsen/workload/deliveries"
	"github.com/trireme-dev/trireme/workflow"
)

// Commits is a run of transfers between accounts by the steps of workflows, of which every second records several steps by one delivery, and
// of orders that are counted by the answers to their messages, while calls fail and leaders are killed.
type Commits struct {
	Cluster *testcluster.Cluster
	Label   string
	// Runs is the number of transfers, and of orders.
	Runs int
	// Failing is the part of calls and answers that fail, in percent.
	Failing         int
	KillEvery, Down time.Duration
	// Patience bounds all runs together.
	Patience time.Duration
}

// CommitsResult is the result of Commits.
type CommitsResult struct {
	Runs, Kills, Paid, Told, Orders int
	// Refused counts the steps whose condition did not hold.
	Refused int
	Took    time.Duration
}

// String is a line for people.
func (r CommitsResult) String() string {
	return fmt.Sprintf("%d transfers and as many orders in %v, %d leaders killed: %d steps paid, %d messages told of it, %d orders counted; the functions of steps ran %d times too often",
		r.Runs, r.Took.Round(100*time.Millisecond), r.Kills, r.Paid, r.Told, r.Orders, r.Refused)
}

// accounts is the number of accounts; deposit is what is in each.
const (
	accounts = 4
	deposit  = 1000
)

// transfer is the payload of a run.
type transfer struct{ Number, From, To, Amount int }

func transferOf(n int) transfer {
	return transfer{Number: n, From: n % accounts, To: (n + 1 + n/accounts%(accounts-1)) % accounts, Amount: 1 + n%7}
}

// committed is a Commits under way.
type committed struct {
	Commits
	app  *App
	sink *deliveries.Sink
}

func (c *committed) key(name string, more ...int) string {
	key := c.Label + ":" + name
	for _, n := range more {
		key += ":" + strconv.Itoa(n)
	}
	return key
}

// workflow pays in one step, on condition that the account is as it was seen, and signs in another, in two of three runs before the first is
// recorded.
func (c *committed) workflow(a *App) []workflow.Definition {
	return []workflow.Definition{workflow.New("transfer", func(x *workflow.Context, t transfer) (string, error) {
		x.SetAhead(t.Number % 3)
		from, to := c.key("account", t.From), c.key("account", t.To)
		workflow.Commit(x, "pay", func(ctx context.Context) (o workflow.Outcome[string], err error) {
			a.ran(x.RunID, "pay")
			o.Result, _ = c.get(ctx, from) // a wrong condition is refused, and the step repeated
			o.Commands = []workflow.Command{
				{"RPUSH", c.key("paid"), x.RunID + " 1"}, {"DECRBY", from, t.Amount}, {"INCRBY", to, t.Amount}, {"MSG.PUBLISH", c.sink.URL(c.key("told"), t.Number), x.RunID, "RETRIES", 40, "RETRY-DELAY", "100"},
				{"IF", from, "EQ", c.less(o.Result, t.Amount)}, // last, so that there is something to take back
			}
			return o, nil
		})
		workflow.Commit(x, "sign", func(context.Context) (o workflow.Outcome[*int], err error) {
			a.ran(x.RunID, "sign")
			o.Commands = []workflow.Command{{"RPUSH", c.key("paid"), x.RunID + " 2"}}
			return o, nil
		})
		return "done", nil
	})}
}

func (c *committed) less(seen string, amount int) string {
	n, _ := strconv.Atoi(seen)
	return strconv.Itoa(n - amount)
}

// ran notes that the function of a step has run.
func (a *App) ran(run, name string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.effects[stepKey{run, name}]++
}

// answer takes what the transfers tell, and counts orders by the commands of its answers.
func (c *committed) answer(label string, number, _ int) deliveries.Answer {
	switch {
	case c.app.unlucky():
		return deliveries.Answer{Status: http.StatusInternalServerError, Commit: fmt.Sprintf(`[["INCR",%q]]`, c.key("orders"))}
	case label == c.key("told"):
		return deliveries.Answer{Status: http.StatusOK, Commit: fmt.Sprintf(`[["INCR",%q]]`, c.key("stolen"))} // nobody asked for that
	case c.app.unlucky(): // the last command refuses the others
		return deliveries.Answer{Status: http.StatusOK, Commit: fmt.Sprintf(`[["INCR",%q],["IF",%q,"EXISTS"]]`, c.key("orders"), c.key("nothing"))}
	}
	return deliveries.Answer{Status: http.StatusOK, Commit: fmt.Sprintf(`[["IF",%[1]q,"MISSING"],["SET",%[1]q,"paid"],["INCR",%[2]q]]`, c.key("order", number), c.key("orders"))}
}

// do runs a command through one node after the other until one answers, and reads its reply.
func (c *committed) do(ctx context.Context, v any, args ...string) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	node := 0
	return testcluster.Poll(ctx, 20*time.Millisecond, func() error {
		r := c.Cluster.Do(ctx, node%c.Cluster.Size(), args...)
		if node++; r.Outcome != history.OK {
			return errors.New(r.Error)
		}
		return json.Unmarshal(r.Result, v)
	})
}

func (c *committed) get(ctx context.Context, key string) (v string, err error) {
	return v, c.do(ctx, &v, "GET", key)
}

// Run performs the transfers and the orders, and compares what they have left.
func (c Commits) Run(ctx context.Context) (out CommitsResult, err error) {
	w := &committed{Commits: c}
	if w.app, err = NewApp(c.Cluster, w.workflow); err != nil {
		return out, err
	}
	defer w.app.Close()
	if w.sink, err = deliveries.NewSinkAt(c.Cluster.Host, w.answer); err != nil {
		return out, err
	}
	defer w.sink.Close()
	w.app.Fail(c.Failing)
	w.app.http.Transport = twice{w.app, w.app.http.Transport}
	for n := range accounts {
		var ok string
		if err := w.do(ctx, &ok, "SET", w.key("account", n), strconv.Itoa(deposit)); err != nil {
			return out, fmt.Errorf("open an account: %w", err)
		}
	}
	killer := &deliveries.Killer{Cluster: c.Cluster, Down: c.Down}
	began := time.Now()
	err = whileKilling(ctx, killer, c.KillEvery, func(ctx context.Context) error {
		return all(ctx, c.Runs, func(ctx context.Context, n int) error { return errors.Join(w.order(ctx, n), w.pay(ctx, n)) })
	})
	out = CommitsResult{Runs: c.Runs, Kills: len(killer.Kills())}
	if err == nil {
		err = w.judge(ctx, &out)
	}
	out.Took = time.Since(began)
	return out, errors.Join(err, w.app.Problems())
}

// rights are the headers of a run or a message whose commands count.
var rights = map[string]string{"upstash-commit-as": "default", "upstash-commit-token": testcluster.Token}

func (c *committed) run(n int) string { return fmt.Sprintf("wfr_%s_%d", c.Label, n) }

// pay performs one transfer.
func (c *committed) pay(ctx context.Context, n int) error {
	payload, err := json.Marshal(transferOf(n))
	if err != nil {
		return err
	}
	if err := c.app.Start(ctx, "transfer", c.run(n), string(payload), everySecond(n, rights)); err != nil {
		return err
	}
	l, err := c.app.Ended(ctx, c.run(n), c.Patience)
	if err == nil && l.State != "RUN_SUCCESS" {
		err = fmt.Errorf("run %s: %s", l.ID, show(l))
	}
	return err
}

// order publishes one order.
func (c *committed) order(ctx context.Context, n int) error {
	p := &deliveries.Publisher{Cluster: c.Cluster}
	header := map[string]string{"Upstash-Deduplication-Id": fmt.Sprintf("%s-order-%d", c.Label, n), "Upstash-Retries": "40", "Upstash-Retry-Delay": "100"}
	for name, v := range rights {
		header[name] = v
	}
	_, err := p.Publish(ctx, n, "/v2/publish/"+c.sink.URL(c.key("orders"), n), header, []byte("order"))
	return err
}

// judge holds the accounts, the list of steps, the messages and the orders to what was done.
func (c *committed) judge(ctx context.Context, out *CommitsResult) error {
	balance := slices.Repeat([]int{deposit}, accounts)
	var signed []string
	for n := range c.Runs {
		t := transferOf(n)
		balance[t.From], balance[t.To] = balance[t.From]-t.Amount, balance[t.To]+t.Amount
		signed = append(signed, c.run(n)+" 1", c.run(n)+" 2")
		out.Refused += c.app.Effects(c.run(n), "pay") + c.app.Effects(c.run(n), "sign") - 2
	}
	var faults []string
	for n, want := range balance {
		got, err := c.get(ctx, c.key("account", n))
		if err != nil {
			return fmt.Errorf("read account %d: %w", n, err)
		}
		if got != strconv.Itoa(want) {
			faults = append(faults, fmt.Sprintf("account %d has %s, not %d", n, got, want))
		}
	}
	var paid []string
	if err := c.do(ctx, &paid, "LRANGE", c.key("paid"), "0", "-1"); err != nil {
		return err
	}
	out.Paid = len(paid)
	slices.Sort(paid)
	slices.Sort(signed)
	if !slices.Equal(paid, signed) {
		faults = append(faults, fmt.Sprintf("%d steps have left %d lines", len(signed), len(paid)))
	}
	if len(faults) > 0 {
		return errors.New(strings.Join(faults, "; "))
	}
	return c.judgeMessages(ctx, out)
}

// judgeMessages waits for what was told and for the orders.
func (c *committed) judgeMessages(ctx context.Context, out *CommitsResult) error {
	end := time.Now().Add(c.Patience)
	for {
		told := map[int]map[string]bool{}
		for _, a := range c.sink.Arrivals(c.key("told")) {
			if told[a.Number] == nil {
				told[a.Number] = map[string]bool{}
			}
			told[a.Number][a.Message] = true
		}
		out.Told = len(told)
		for n, messages := range told { // unordered: the first fault will do
			if len(messages) > 1 {
				return fmt.Errorf("transfer %d was told by %d messages", n, len(messages))
			}
		}
		var orders string
		err := c.do(ctx, &orders, "GET", c.key("orders"))
		if out.Orders, _ = strconv.Atoi(orders); err == nil && (out.Orders > c.Runs || out.Orders == c.Runs && out.Told == c.Runs) {
			break
		}
		if time.Now().After(end) || ctx.Err() != nil {
			return errors.Join(fmt.Errorf("after %v %d of %d transfers are told, and %d orders counted", c.Patience, out.Told, c.Runs, out.Orders), err)
		}
		deliveries.Sleep(ctx, 100*time.Millisecond)
	}
	var stolen *string
	if err := c.do(ctx, &stolen, "GET", c.key("stolen")); err != nil {
		return fmt.Errorf("read what nobody may write: %w", err)
	}
	if stolen != nil {
		return fmt.Errorf("commands that nobody had asked for were run %s times", *stolen)
	}
	if out.Orders != c.Runs {
		return fmt.Errorf("%d orders are counted, of %d", out.Orders, c.Runs)
	}
	return nil
}

// twice is a network that delivers some requests a second time, as a client does that tries again without an answer.
type twice struct {
	app  *App
	next http.RoundTripper
}

// RoundTrip sends a request, and after an answer perhaps again.
func (t twice) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := t.next.RoundTrip(r)
	if err != nil || r.Method != http.MethodPost || r.GetBody == nil || !t.app.unlucky() {
		return answer, err
	}
	body, err := r.GetBody()
	if err != nil {
		return answer, nil
	}
	again := r.Clone(r.Context())
	again.Body = body
	second, err := t.next.RoundTrip(again)
	if err != nil {
		return answer, nil
	}
	answer.Body.Close()
	return second, nil
}
