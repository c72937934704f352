package workflows

import (
	"net/http"
	"strconv"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/workflow"
	"github.com/trireme-dev/trireme/httpapi/messages"
	"github.com/trireme-dev/trireme/httpapi/view"
)

// runPage is a page of runs.
type runPage struct {
	Cursor string    `json:"cursor,omitempty"`
	Runs   []*runLog `json:"runs"`
}

// logs answers a page of runs with their steps, the newest first.
func (re *request) logs() (*runPage, error) {
	s, _, err := re.readListQuery(runNames, maxRuns)
	if err != nil {
		return nil, err
	}
	page := &runPage{Runs: []*runLog{}}
	size := 0
	cursor, err := re.eachRun(s, func(v *fsm.View, r *workflow.Run) bool {
		if size >= messages.MaxPageBytes && len(page.Runs) > 0 {
			return false
		}
		size += runSize(v.Workflows(), r, s.trim)
		page.Runs = append(page.Runs, renderRun(v.Workflows(), r, v.Now(), s.trim))
		return true
	})
	if err != nil {
		return nil, err
	}
	page.Cursor = cursor
	return page, nil
}

// runSize estimates how much a run adds to a page, in bytes.
func runSize(store *workflow.Store, r *workflow.Run, trim int) (n int) {
	size := view.Redactor{Trim: trim}.Size
	store.Log(r.No, func(_ uint32, e *workflow.Entry) bool {
		n += 512 + size(e.Body.Len())
		if e.Answer != nil {
			n += size(e.Answer.BodySize())
		}
		if e.Type == workflow.CallStep && e.Kind == workflow.StepEntry { // shown as the answer, too
			n += size(e.Body.Len())
		}
		for i := range e.Errors {
			n += size(e.Errors[i].BodySize())
		}
		return true
	})
	return n + size(r.Result.Len())
}

// eachRun visits a page of the runs that s chooses and returns the cursor of the next page, empty after the last. visit
// returns false for a run for which the page has no room. One read looks at a bounded number of runs, so a page may
// take several reads.
func (re *request) eachRun(s *listQuery, visit func(*fsm.View, *workflow.Run) bool) (string, error) {
	after, err := readCursor(s.cursor)
	if err != nil || s.none {
		return "", err
	}
	seen, more := 0, true
	for more && seen < s.limit {
		full := false
		err := re.view(func(v *fsm.View) {
			var list []*workflow.Run
			before := after
			list, after, more = v.Workflows().Runs(&s.filter.Filter, workflow.Page{After: after, Limit: s.limit - seen})
			for _, r := range list {
				if full = !visit(v, r); full {
					after = before
					return
				}
				before = r.No
				seen++
			}
		})
		if err != nil {
			return "", err
		}
		if full {
			more = true
			break
		}
	}
	if !more {
		return "", nil
	}
	return strconv.FormatUint(after, 36), nil
}

func readCursor(text string) (uint64, error) {
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(text, 36, 64)
	if err != nil {
		return 0, messages.Invalid("invalid cursor %q", text)
	}
	return n, nil
}

func noRun(id string) *messages.Error { return messages.NotFound("workflow run", id) }

// fetch answers GET /v2/workflows/runs/{id}: the whole log, for an endpoint whose delivery was too large for a body. An SDK
// that gets 404 gives up the run, so 404 is answered only when the run is over.
func (re *request) fetch(id string) error {
	var text []byte
	_, err := re.Engine.Read(re.r.Context(), fsm.Reading{Long: true}, func(v *fsm.View) {
		if r := v.Workflows().Find(id, 0); r != nil && (r.State == workflow.Started || r.State == workflow.Failed) {
			text = v.Workflows().Elements(r.No)
		}
	})
	if err != nil {
		return err
	}
	if text == nil {
		return noRun(id)
	}
	re.w.Header()["Content-Type"] = []string{"application/json"}
	re.w.WriteHeader(http.StatusOK)
	re.w.Write(text) // the server compresses it: an SDK fetches with every delivery, and elements are much alike
	return nil
}
