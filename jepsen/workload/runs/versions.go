package runs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/trireme-dev/trireme/jepsen/testcluster"
	"github.com/trireme-dev/trireme/jepsen/workload/deliveries"
	"github.com/trireme-dev/trireme/workflow"
)

// Versions is runs that stay on their deployments, are moved by hand and by rule, and are forked, while calls fail and leaders are killed.
type Versions struct {
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

// VersionsResult is the result of Versions.
type VersionsResult struct {
	Runs, Kills, ByHand, ByRule, Forks int
	Took                               time.Duration
}

// String is a line for people.
func (r VersionsResult) String() string {
	return fmt.Sprintf("%d runs on deployments in %v, %d leaders killed: %d moved by hand, %d by rule, %d forked",
		r.Runs, r.Took.Round(100*time.Millisecond), r.Kills, r.ByHand, r.ByRule, r.Forks)
}

// versioned is a Versions under way.
type versioned struct {
	Versions
	app                   *App
	second                string // another address of the app: that of a later deployment
	byHand, byRule, forks atomic.Int64
}

// versionSteps is the number of steps of a run; the wait, after which a run may be moved, is the third.
const (
	versionSteps = 5
	versionWait  = 3
)

func (v *versioned) workflow(a *App) []workflow.Definition {
	return []workflow.Definition{workflow.New("versions", func(c *workflow.Context, _ []byte) ([]string, error) {
		outs := []string{a.Effect(c, "first"), a.Effect(c, "second")}
		_, err := workflow.Wait[[]byte](c, "wait", "go", time.Hour)
		return append(outs, v.where(c, "third"), v.where(c, "last")), err
	})}
}

// where is a step whose result is the address by which the app was called for it.
func (v *versioned) where(c *workflow.Context, name string) string {
	return workflow.Run(c, name, func(context.Context) (string, error) { return c.Request.Host, nil })
}

func (v *versioned) name(deployment string) string { return v.Label + "-" + deployment }

func (v *versioned) run(n int) string { return fmt.Sprintf("wfr_%s_%d", v.Label, n) }

// Run performs the runs and looks at where they went.
func (v Versions) Run(ctx context.Context) (out VersionsResult, err error) {
	w := &versioned{Versions: v}
	if w.app, err = NewApp(v.Cluster, w.workflow); err != nil {
		return out, err
	}
	defer w.app.Close()
	stop, err := w.serveSecond()
	if err != nil {
		return out, err
	}
	defer stop()
	for _, d := range []struct{ name, url string }{{"stays", w.app.Base}, {"next", w.second}, {"hand", w.app.Base}, {"rule", w.app.Base}} {
		if err := w.want(ctx, http.MethodPut, "/v2/workflows/deployments/"+w.name(d.name), map[string]string{"url": d.url}); err != nil {
			return out, err
		}
	}
	w.app.Fail(v.Failing)
	killer := &deliveries.Killer{Cluster: v.Cluster, Down: v.Down}
	began := time.Now()
	err = whileKilling(ctx, killer, v.KillEvery, func(ctx context.Context) error { return all(ctx, v.Runs, w.one) })
	out = VersionsResult{Runs: v.Runs, Kills: len(killer.Kills()), ByHand: int(w.byHand.Load()), ByRule: int(w.byRule.Load()), Forks: int(w.forks.Load()), Took: time.Since(began)}
	if err == nil {
		err = w.deleteAll(ctx)
	}
	return out, errors.Join(err, w.app.Problems())
}

// deleteAll deletes the deployments, which no run keeps alive any more.
func (v *versioned) deleteAll(ctx context.Context) error {
	for _, d := range []string{"rule", "hand", "stays", "next"} { // the rule names the last
		status, err := v.app.Call(ctx, http.MethodDelete, "/v2/workflows/deployments/"+v.name(d), nil, nil, nil)
		if err == nil && status/100 != 2 && status != http.StatusNotFound { // the answer to the first request may be lost
			err = fmt.Errorf("status %d", status)
		}
		if err != nil {
			return fmt.Errorf("delete deployment %s: %w", d, err)
		}
	}
	return nil
}

// serveSecond serves the app at another address.
func (v *versioned) serveSecond() (stop func(), err error) {
	l, err := net.Listen("tcp", net.JoinHostPort(v.Cluster.Host, "0"))
	if err != nil {
		return nil, err
	}
	v.second = "http://" + l.Addr().String()
	server := &http.Server{Handler: v.app.server.Handler}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	return func() { server.Close(); <-served }, nil
}

// want has a request be answered well.
func (v *versioned) want(ctx context.Context, method, path string, body any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	status, err := v.app.Call(ctx, method, path, map[string]string{"content-type": "application/json"}, text, nil)
	if err == nil && status/100 != 2 {
		err = fmt.Errorf("%s %s: status %d", method, path, status)
	}
	return err
}

// one performs one run. It waits until it was moved, so every step after the wait belongs to its last deployment.
func (v *versioned) one(ctx context.Context, n int) error {
	id, deployment := v.run(n), []string{"stays", "hand", "rule"}[n%3]
	own := everySecond(n/3, map[string]string{"svc-deployment": v.name(deployment)})
	if err := v.app.Start(ctx, "versions", id, "{}", own); err != nil {
		return err
	}
	if _, err := v.app.Until(ctx, id, v.Patience, waits); err != nil {
		return err
	}
	host := v.app.Base
	switch deployment {
	case "hand":
		if err := v.want(ctx, http.MethodPost, "/v2/workflows/runs/"+id+"/move", map[string]string{"to": v.name("next")}); err != nil {
			return err
		}
		host = v.second
		v.byHand.Add(1)
	case "rule":
		rule := map[string]string{"moveTo": v.name("next"), "when": "always"}
		if err := v.want(ctx, http.MethodPut, "/v2/workflows/deployments/"+v.name("rule"), rule); err != nil {
			return err
		}
		host = v.second
		v.byRule.Add(1)
	}
	l, err := v.goOn(ctx, id)
	if err != nil {
		return err
	}
	if err := v.judge(l, host); err != nil {
		return err
	}
	return v.fork(ctx, l, n%(versionSteps+1), host)
}

// waits reports whether a run has come to its wait.
func waits(l *Log) bool {
	return slices.ContainsFunc(l.Steps(), func(s Step) bool { return s.ID == versionWait })
}

// goOn wakes a run and returns its log when it has ended.
func (v *versioned) goOn(ctx context.Context, id string) (*Log, error) {
	if err := v.app.Wake(ctx, id); err != nil {
		return nil, err
	}
	return v.app.Ended(ctx, id, v.Patience)
}

// judge holds a run to its steps, and to the address at which those after the wait were done.
func (v *versioned) judge(l *Log, host string) error {
	steps := l.Steps()
	if l.State != "RUN_SUCCESS" || len(steps) != versionSteps+1 {
		return fmt.Errorf("run %s: %s", l.ID, show(l))
	}
	for _, s := range steps[versionWait+1:] {
		if s.Out == nil || *s.Out != strconv.Quote(strings.TrimPrefix(host, "http://")) {
			return fmt.Errorf("run %s: step %q was done at %s, and its deployment is at %s", l.ID, s.Name, s.shown(), host)
		}
	}
	return nil
}

// shown is the result of a step, if it has one.
func (s *Step) shown() string {
	if s.Out == nil {
		return "nothing"
	}
	return *s.Out
}

// fork forks a run after a step. The fork has the results up to there, and comes to its own end.
func (v *versioned) fork(ctx context.Context, of *Log, step int, host string) error {
	id := of.ID + "_fork"
	ask := map[string]any{"step": step, "workflowRunId": id}
	text, err := json.Marshal(ask)
	if err != nil {
		return err
	}
	status, err := v.app.Call(ctx, http.MethodPost, "/v2/workflows/runs/"+of.ID+"/fork", map[string]string{"content-type": "application/json"}, text, nil)
	if err == nil && status/100 != 2 && status != http.StatusBadRequest { // a request whose answer was lost has taken the id
		err = fmt.Errorf("status %d", status)
	}
	if err != nil {
		return fmt.Errorf("fork %s: %w", of.ID, err)
	}
	v.forks.Add(1)
	var l *Log
	if step >= versionWait {
		l, err = v.app.Ended(ctx, id, v.Patience)
	} else if l, err = v.app.Until(ctx, id, v.Patience, waits); err == nil {
		l, err = v.goOn(ctx, id)
	}
	if err != nil {
		return err
	}
	if err := v.judge(l, host); err != nil {
		return err
	}
	if err := sameUpTo(step, of, l); err != nil {
		return err
	}
	again, err := v.app.Log(ctx, of.ID)
	if err == nil {
		err = sameUpTo(versionSteps, of, again)
	}
	return err
}

// sameUpTo compares the results of two runs up to a step.
func sameUpTo(step int, of, other *Log) error {
	was, now := of.Steps(), other.Steps()
	for i := range step + 1 {
		if was[i].shown() != now[i].shown() {
			return fmt.Errorf("run %s, forked: step %d is %s, and was %s", of.ID, i, now[i].shown(), was[i].shown())
		}
	}
	return nil
}
