package testapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/trireme-dev/trireme/httpapi/jsonbody"
	"github.com/trireme-dev/trireme/internal/testclock"
)

// API serves the paths under /test.
type API struct {
	*Stepper
	*Recorder
	*Sinks
	routes map[string]map[string]route // by path and method
	// permitted reports whether a request bears a token that may use the API.
	permitted func(*http.Request) bool
}

// DefaultWait bounds a request that waits for the server to settle and names no limit.
const DefaultWait = 30 * time.Second

// New returns the API of a node. permitted reports whether a request bears the admin token or
// the messages token; only deliveries to sinks need none.
func New(s *Stepper, c *Recorder, k *Sinks, permitted func(*http.Request) bool) *API {
	a := &API{Stepper: s, Recorder: c, Sinks: k, permitted: permitted}
	wait := []string{"timeout"}
	a.routes = map[string]map[string]route{
		"/test/clock":      {http.MethodGet: {a.showClock, nil}, http.MethodPost: {a.moveClock, wait}},
		"/test/idle":       {http.MethodPost: {a.waitIdle, wait}},
		"/test/deliveries": {http.MethodGet: {a.listDeliveries, slices.Sorted(maps.Keys(deliveryFilters))}},
		"/test/reset":      {http.MethodPost: {a.reset, nil}},
	}
	return a
}

// route answers one method of one path; any other parameter than its own is refused.
type route struct {
	serve      http.HandlerFunc
	parameters []string
}

func (r route) check(query url.Values) error {
	for name := range query {
		switch {
		case slices.Contains(r.parameters, name):
		case len(r.parameters) == 0:
			return fmt.Errorf("unknown parameter %q: this path takes none", name)
		default:
			return fmt.Errorf("unknown parameter %q: this path takes %s", name, strings.Join(r.parameters, ", "))
		}
	}
	return nil
}

// ServeHTTP answers a request under /test. Requests to a sink come without a token; with
// one, GET shows what the sink has received and PUT gives it its script.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	permitted := a.permitted(r)
	if name, of := strings.CutPrefix(r.URL.Path, sinkPath); of && name != "" {
		a.answer(w, r, name, permitted)
		return
	}
	if !permitted {
		fail(w, http.StatusUnauthorized, errors.New("expected the admin token or the messages token as the bearer token"))
		return
	}
	methods, some := a.routes[r.URL.Path]
	one, takes := methods[r.Method]
	switch {
	case !some:
		fail(w, http.StatusNotFound, fmt.Errorf("there is nothing at %s: there are %s and %sNAME", r.URL.Path, strings.Join(slices.Sorted(maps.Keys(a.routes)), ", "), sinkPath))
	case !takes:
		w.Header().Set("Allow", strings.Join(slices.Sorted(maps.Keys(methods)), ", "))
		fail(w, http.StatusMethodNotAllowed, fmt.Errorf("%s takes %s, got %s", r.URL.Path, w.Header().Get("Allow"), r.Method))
	default:
		if err := one.check(r.URL.Query()); err != nil {
			fail(w, http.StatusBadRequest, err)
			return
		}
		one.serve(w, r)
	}
}

func (a *API) showClock(w http.ResponseWriter, _ *http.Request) { a.answerClock(w) }

func (a *API) answerClock(w http.ResponseWriter) {
	out := map[string]any{"now": a.node.Now(), "mode": a.clock.Mode()}
	if at, some := a.node.NextDue(); some {
		out["nextDue"] = at
	}
	answer(w, http.StatusOK, out)
}

// move is the body of POST /test/clock.
type move struct {
	Mode    string          `json:"mode"`
	Advance string          `json:"advance"` // a duration such as 90m or 8760h
	To      json.RawMessage `json:"to"`      // unix milliseconds, or RFC 3339
}

// maxUnixMs is the last millisecond of the year 9999: a later time is in microseconds, or a mistake.
var maxUnixMs = time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli() - 1

// target returns the moment to move to, false if the body names none.
func (m *move) target(now int64) (unixms int64, some bool, err error) {
	switch {
	case m.Advance != "" && m.To != nil:
		return 0, false, errors.New("expected advance or to, got both")
	case m.Advance != "":
		d, err := parseDuration(m.Advance)
		if err != nil || d < 0 {
			return 0, false, fmt.Errorf("advance: expected a duration such as 90m or 7d, got %q", m.Advance)
		}
		return now + d.Milliseconds(), true, nil
	case m.To != nil:
		var text string
		if json.Unmarshal(m.To, &unixms) == nil {
			if unixms > maxUnixMs {
				return 0, false, fmt.Errorf("to: expected unix milliseconds up to the year 9999, got %d", unixms)
			}
			return unixms, true, nil
		}
		if json.Unmarshal(m.To, &text) == nil {
			if t, err := time.Parse(time.RFC3339, text); err == nil {
				return t.UnixMilli(), true, nil
			}
		}
		return 0, false, fmt.Errorf("to: expected unix milliseconds or RFC 3339, got %s", m.To)
	}
	return 0, false, nil
}

// parseDuration does what time.ParseDuration does, and also reads days.
func parseDuration(text string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		n, err := strconv.ParseUint(days, 10, 16)
		return time.Duration(n) * 24 * time.Hour, err
	}
	return time.ParseDuration(text)
}

func (a *API) moveClock(w http.ResponseWriter, r *http.Request) {
	var m move
	if !read(w, r, &m) {
		return
	}
	mode := a.clock.Mode()
	if m.Mode != "" {
		var err error
		if mode, err = testclock.ParseMode(m.Mode); err != nil {
			fail(w, http.StatusBadRequest, fmt.Errorf("mode: %w", err))
			return
		}
	}
	ctx, cancel, err := within(r)
	if err != nil {
		fail(w, http.StatusBadRequest, err)
		return
	}
	defer cancel()
	target, some, err := m.target(a.node.Now())
	if err != nil {
		fail(w, http.StatusBadRequest, err)
		return
	}
	if some {
		if err := a.To(ctx, target); err != nil {
			failMove(w, err)
			return
		}
	}
	if mode != a.clock.Mode() {
		a.SetMode(mode)
	}
	a.answerClock(w)
}

func failMove(w http.ResponseWriter, err error) {
	var busy *Busy
	switch {
	case errors.As(err, &busy):
		answer(w, http.StatusConflict, map[string]any{"error": busy.Error(), "busy": busy})
	case errors.Is(err, testclock.ErrBackwards):
		fail(w, http.StatusBadRequest, err)
	default:
		fail(w, http.StatusServiceUnavailable, err)
	}
}

func (a *API) waitIdle(w http.ResponseWriter, r *http.Request) {
	ctx, cancel, err := within(r)
	if err != nil {
		fail(w, http.StatusBadRequest, err)
		return
	}
	defer cancel()
	if err := a.Idle(ctx); err != nil {
		failMove(w, err)
		return
	}
	a.answerClock(w)
}

// within returns the context of a request that waits, by its parameter timeout.
func within(r *http.Request) (context.Context, context.CancelFunc, error) {
	d := DefaultWait
	if text := r.URL.Query().Get("timeout"); text != "" {
		var err error
		if d, err = parseDuration(text); err != nil || d <= 0 {
			return nil, nil, fmt.Errorf("timeout: expected a duration such as 5s, got %q", text)
		}
	}
	ctx, cancel := context.WithTimeout(r.Context(), d)
	return ctx, cancel, nil
}

// deliveryFilters are the parameters of GET /test/deliveries.
var deliveryFilters = map[string]func(d *Delivery, value string) bool{
	"messageId":     func(d *Delivery, v string) bool { return d.MessageID == v },
	"scheduleId":    func(d *Delivery, v string) bool { return d.ScheduleID == v },
	"workflowRunId": func(d *Delivery, v string) bool { return d.WorkflowRunID == v },
	"url":           func(d *Delivery, v string) bool { return strings.HasPrefix(d.URL, v) },
	"method":        func(d *Delivery, v string) bool { return strings.EqualFold(d.Method, v) },
	"status":        func(d *Delivery, v string) bool { return strconv.Itoa(d.Status) == v },
	"since":         func(d *Delivery, v string) bool { n, err := strconv.Atoi(v); return err == nil && d.Number > n },
}

func (a *API) listDeliveries(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	for _, name := range []string{"status", "since"} {
		for _, v := range query[name] {
			if _, err := strconv.Atoi(v); err != nil {
				fail(w, http.StatusBadRequest, fmt.Errorf("%s: expected a number, got %q", name, v))
				return
			}
		}
	}
	answer(w, http.StatusOK, map[string]any{"deliveries": a.Deliveries(func(d *Delivery) bool {
		for name, values := range query {
			for _, v := range values {
				if !deliveryFilters[name](d, v) {
					return false
				}
			}
		}
		return true
	})})
}

func (si *Sinks) script(w http.ResponseWriter, r *http.Request, name string) {
	var body struct {
		Replies []json.RawMessage `json:"replies"`
	}
	if !read(w, r, &body) {
		return
	}
	replies := make([]Reply, len(body.Replies))
	for i, text := range body.Replies {
		if err := jsonbody.Decode(text, &replies[i]); err != nil {
			fail(w, http.StatusBadRequest, fmt.Errorf("reply %d: %w", i, err))
			return
		}
	}
	if err := si.Script(name, replies); err != nil {
		fail(w, http.StatusBadRequest, err)
		return
	}
	answer(w, http.StatusOK, map[string]any{"replies": len(replies)})
}

func (a *API) reset(w http.ResponseWriter, r *http.Request) {
	if err := a.lock(r.Context()); err != nil {
		fail(w, http.StatusServiceUnavailable, err)
		return
	}
	defer a.unlock()
	if err := a.node.Reset(r.Context()); err != nil {
		fail(w, http.StatusServiceUnavailable, err)
		return
	}
	a.Recorder.Reset()
	a.Sinks.Reset()
	a.answerClock(w)
}

// maxControlBody bounds the body of a request to the API, in bytes.
const maxControlBody = 8 << 20

func read(w http.ResponseWriter, r *http.Request, into any) bool {
	var refused *jsonbody.Error
	if errors.As(jsonbody.Read(w, r, maxControlBody, into), &refused) {
		fail(w, refused.Status, refused)
		return false
	}
	return true
}
