package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/trireme-dev/trireme/jepsen/testcluster"
)

// judge looks for the sample at every node, and measures.
func (r *historyRun) judge(ctx context.Context) error {
	var failed []error
	for _, n := range r.c.Nodes {
		loaded, _, err := memoryOf(n.Pid())
		if err != nil {
			return err
		}
		most := int64(historyBase + historyMemory*r.messages)
		now, err := r.rested(ctx, n, most)
		if err != nil {
			return err
		}
		disk, err := sizeOf(n.DataDir)
		if err != nil {
			return err
		}
		r.s.printf("%s: resident memory %d MiB, %d MiB right after the load, data directory %d MiB", n.ID, now>>20, loaded>>20, disk>>20)
		if now > most {
			failed = append(failed, fmt.Errorf("%s has %d MiB of resident memory, at most %d MiB are allowed", n.ID, now>>20, most>>20))
		}
		if err := r.look(ctx, n); err != nil {
			failed = append(failed, err)
		}
	}
	leader, err := r.c.WaitLeader(ctx)
	if err != nil {
		return err
	}
	n := r.c.Nodes[(leader.Node+1)%r.c.Size()]
	if err := n.Kill(); err != nil {
		return err
	}
	began := time.Now()
	if err := n.Start(); err != nil {
		return err
	}
	if err := r.c.WaitNodeReady(ctx, n); err != nil {
		return err
	}
	r.s.printf("%s restarted in %v", n.ID, time.Since(began).Round(10*time.Millisecond))
	failed = append(failed, r.look(ctx, n))
	for _, n := range r.c.Nodes {
		failed = append(failed, r.walk(ctx, n))
	}
	return errors.Join(append(failed, r.equal(ctx))...)
}

// rested returns the resident memory of a node once it is no more than a limit, or after historyRest: what the collector has freed goes
// back to the system in its own time.
func (r *historyRun) rested(ctx context.Context, n *testcluster.Node, most int64) (now int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, historyRest)
	defer cancel()
	_ = testcluster.Poll(ctx, time.Second, func() error { // the caller judges what there is at the end
		if now, _, err = memoryOf(n.Pid()); err == nil && now > most {
			return errors.New("it still has more")
		}
		return nil
	})
	return now, err
}

// walk counts the messages that were delivered in all pages of a node: every record of every volume is read there.
func (r *historyRun) walk(ctx context.Context, n *testcluster.Node) error {
	began, found, pages, cursor := time.Now(), 0, 0, ""
	for {
		var page struct {
			Events []struct{ URL string }
			Cursor string
		}
		status, _, body, err := n.Messages().Call(ctx, http.MethodGet, "/v2/events?state=DELIVERED&count=1000&cursor="+url.QueryEscape(cursor), nil, nil)
		if err == nil && status != http.StatusOK {
			err = fmt.Errorf("status %d: %.200s", status, body)
		}
		if err == nil {
			err = json.Unmarshal(body, &page)
		}
		if err != nil {
			return fmt.Errorf("%s: page %d of events: %w", n.ID, pages, err)
		}
		for _, e := range page.Events {
			if strings.HasPrefix(e.URL, r.sink) {
				found++
			}
		}
		pages++
		if cursor = page.Cursor; cursor == "" {
			break
		}
	}
	r.s.printf("%s: %d of %d messages are told to be delivered, in %d pages and %v", n.ID, found, r.messages, pages, time.Since(began).Round(time.Second))
	if found != r.messages {
		return fmt.Errorf("%s tells of %d deliveries of %d messages", n.ID, found, r.messages)
	}
	return nil
}

// equal compares the digests of all nodes.
func (r *historyRun) equal(ctx context.Context) error {
	binary, err := r.s.product()
	if err != nil {
		return err
	}
	k := &keeper{s: r.s, binary: binary, dir: filepath.Join(r.s.dir, "data")}
	if err := k.equal(ctx, r.c, historyCompare); err != nil {
		return err
	}
	r.s.printf("the digests of all nodes are equal")
	return nil
}

// look finds the messages of the sample by id, by label and by day, and some runs by id and label, at a node.
func (r *historyRun) look(ctx context.Context, n *testcluster.Node) error {
	times := map[string][]time.Duration{}
	get := func(kind, path string, into any) error {
		began := time.Now()
		status, _, body, err := n.Messages().Call(ctx, http.MethodGet, path, nil, nil)
		times[kind] = append(times[kind], time.Since(began))
		if err == nil && status != http.StatusOK {
			err = fmt.Errorf("status %d: %.200s", status, body)
		}
		if err == nil {
			err = json.Unmarshal(body, into)
		}
		if err != nil {
			return fmt.Errorf("%s: %s: %w", n.ID, path, err)
		}
		return nil
	}
	type events struct {
		Events []struct {
			MessageID, State string
			Time             int64
		}
	}
	for number, want := range r.ids {
		for kind, path := range map[string]string{"id": "messageId=" + want.id, "label": "label=" + labelOf(number) + "&count=1000"} {
			var list events
			if err := get(kind, "/v2/events?"+path, &list); err != nil {
				return err
			}
			delivered, at := 0, int64(0)
			for _, e := range list.Events {
				if e.MessageID == want.id && e.State == "DELIVERED" {
					delivered, at = delivered+1, e.Time
				}
			}
			if delivered != 1 {
				return fmt.Errorf("%s: message %d (%s) of day %d is told %d times to be delivered, by %s", n.ID, number, want.id, want.day, delivered, kind)
			}
			if kind == "id" {
				var window events
				if err := get("time", fmt.Sprintf("/v2/events?fromDate=%d&toDate=%d&count=1000&label=%s", at-60_000, at+60_000, labelOf(number)), &window); err != nil {
					return err
				}
				if len(window.Events) == 0 {
					return fmt.Errorf("%s: message %d is not found by its time", n.ID, number)
				}
			}
		}
	}
	var none events
	for range 5 {
		if err := get("no hit", "/v2/events?label=nosuch", &none); err != nil || len(none.Events) > 0 {
			return errors.Join(err, fmt.Errorf("%s: %d events have a label that nothing has", n.ID, len(none.Events)))
		}
	}
	looked := 0
	for id := range r.runs {
		if looked++; looked > 200 {
			break
		}
		var logs struct {
			Runs []struct{ WorkflowRunID, WorkflowState string }
		}
		if err := get("run", "/v2/workflows/logs?workflowRunId="+url.QueryEscape(id), &logs); err != nil {
			return err
		}
		if len(logs.Runs) != 1 || logs.Runs[0].WorkflowState != "RUN_SUCCESS" {
			return fmt.Errorf("%s: run %s: %+v", n.ID, id, logs.Runs)
		}
	}
	for _, kind := range []string{"id", "label", "time", "no hit", "run"} {
		all := slices.Sorted(slices.Values(times[kind]))
		if len(all) == 0 {
			continue
		}
		half := all[len(all)/2]
		r.s.printf("%s: %d looked for by %s: p50 %v, p99 %v", n.ID, len(all), kind, half.Round(100*time.Microsecond), all[len(all)*99/100].Round(100*time.Microsecond))
		if half > historyList {
			return fmt.Errorf("%s: what is looked for by %s takes %v, at most %v are allowed", n.ID, kind, half, historyList)
		}
	}
	return nil
}

// sizeOf is the size of a folder in bytes.
func sizeOf(dir string) (bytes int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil // it has gone meanwhile
		}
		if info, err := d.Info(); err == nil {
			bytes += info.Size()
		}
		return nil
	})
	return bytes, err
}
