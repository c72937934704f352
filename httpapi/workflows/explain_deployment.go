package workflows

import (
	"fmt"
	"strconv"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/workflow"
	"github.com/trireme-dev/trireme/httpapi/messages"
)

// maxExplainedRuns is the most runs of a page of those that keep a deployment alive.
const maxExplainedRuns = 100

// deploymentExplanation says what keeps a deployment alive.
type deploymentExplanation struct {
	deployment
	// Reason is a word for programs, Text a sentence for people.
	Reason string `json:"reason"`
	Text   string `json:"text"`
	// Runs are on it, the oldest first.
	Runs   []keepingRun `json:"runs"`
	Cursor string       `json:"cursor,omitempty"`
}

// keepingRun is a run that keeps a deployment alive, and why it is not over.
type keepingRun struct {
	run
	WorkflowURL string `json:"workflowUrl"`
	Reason      string `json:"reason"`
	Text        string `json:"text"`
	Since       int64  `json:"since,omitempty"`
	Next        int64  `json:"next,omitempty"`
}

// explainDeployment answers GET /v2/workflows/deployments/{deployment}/explain.
func (re *request) explainDeployment() (out *deploymentExplanation, err error) {
	name, v := re.Plain(2), params(re.parameters())
	page := workflow.Page{Limit: maxExplainedRuns}
	if page.After, err = readCursor(v.get("cursor")); err != nil {
		return nil, err
	}
	count, err := v.number("count")
	if err != nil {
		return nil, err
	}
	if count > 0 {
		page.Limit = int(min(count, maxExplainedRuns))
	}
	err = re.view(func(v *fsm.View) {
		out = nil
		d, found := v.Workflows().Deployment(name)
		if !found {
			return
		}
		out = &deploymentExplanation{deployment: *renderDeployment(v, &d), Runs: []keepingRun{}}
		out.explain(&d)
		list, cursor, more := v.Workflows().RunsOn(name, page)
		for _, r := range list {
			e := explainer{v.Workflows(), v.Messages(), r, v.Now(), re.origin(), nil}
			n := e.explain()
			out.Runs = append(out.Runs, keepingRun{run{r.ID, r.Created}, r.URL, n.Reason, n.Text, n.Since, n.Next})
		}
		if more {
			out.Cursor = strconv.FormatUint(cursor, 36)
		}
	})
	if err == nil && out == nil {
		err = messages.NotFound("deployment", name)
	}
	return out, err
}

// explain says what keeps the deployment alive.
func (de *deploymentExplanation) explain(d *workflow.DeploymentInfo) {
	switch {
	case d.Active == 0:
		de.Reason, de.Text = "unused", "no active run is on it: nothing but a rule that moves runs to it keeps it from being deleted"
	case d.When == workflow.MoveAlways:
		de.Reason = "moving"
		de.Text = fmt.Sprintf("%s on it, each of which moves to %s with its next delivery", several(d.Active, "active run is", "active runs are"), d.MoveTo)
	default:
		de.Reason, de.Text = "runs", fmt.Sprintf("%s on it, the oldest since %s", several(d.Active, "active run is", "active runs are"), clock(d.Oldest.Created))
	}
}
