package workflows

import (
	"encoding/json"
	"net/http"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/workflow"
	"github.com/trireme-dev/trireme/httpapi/jsonbody"
	"github.com/trireme-dev/trireme/httpapi/messages"
)

// deployment is a deployment as clients read it.
type deployment struct {
	Name      string `json:"name"`
	URL       string `json:"url"`
	CreatedAt int64  `json:"createdAt"`
	UpdatedAt int64  `json:"updatedAt"`
	// MoveTo and When are its rule, if it has one.
	MoveTo string `json:"moveTo,omitempty"`
	When   string `json:"when,omitempty"`
	// ActiveRuns are on it, of which OldestRun was started first.
	ActiveRuns int  `json:"activeRuns"`
	OldestRun  *run `json:"oldestRun,omitempty"`
}

func renderDeployment(_ *fsm.View, d *workflow.DeploymentInfo) *deployment {
	n := &deployment{Name: d.Name, URL: d.URL, CreatedAt: d.Created, UpdatedAt: d.Changed, MoveTo: d.MoveTo, When: d.When.String(), ActiveRuns: d.Active}
	if d.Oldest != nil {
		n.OldestRun = &run{d.Oldest.ID, d.Oldest.Created}
	}
	return n
}

// listDeployments answers GET /v2/workflows/deployments.
func (re *request) listDeployments() error {
	return messages.AnswerAll(re.API.API, re.w, re.r, re.parameters(), queue.ValidName,
		func(v *fsm.View, p queue.NamePage) queue.NameList[workflow.DeploymentInfo] {
			return v.Workflows().Deployments(p)
		}, renderDeployment)
}

// getDeployment answers GET /v2/workflows/deployments/{deployment}.
func (re *request) getDeployment() (n *deployment, err error) {
	name := re.Plain(2)
	err = re.view(func(v *fsm.View) {
		n = nil
		if d, found := v.Workflows().Deployment(name); found {
			n = renderDeployment(v, &d)
		}
	})
	if err == nil && n == nil {
		err = messages.NotFound("deployment", name)
	}
	return n, err
}

// putDeployment answers PUT /v2/workflows/deployments/{deployment}: it makes one, or gives one that exists the rule of the request.
func (re *request) putDeployment() (*deployment, error) {
	body, err := re.json(jsonbody.Bounds{})
	if err != nil {
		return nil, err
	}
	var asked struct {
		URL    string `json:"url"`
		MoveTo string `json:"moveTo"`
		When   string `json:"when"`
	}
	if err := json.Unmarshal(body, &asked); err != nil {
		return nil, messages.Invalid("invalid deployment: %s", jsonbody.Fault(err))
	}
	n := workflow.DeploymentChange{Name: re.Plain(2), URL: asked.URL, MoveTo: asked.MoveTo}
	switch when, ok := workflow.ParseMoveWhen(asked.When); {
	case ok:
		n.When = when
	case asked.When != "":
		return nil, messages.Invalid("invalid when %q: use unstarted or always", asked.When)
	case n.MoveTo != "":
		n.When = workflow.MoveUnstarted
	}
	if n.URL != "" {
		if n.URL, err = re.Parser.ReadPlainURL(n.URL); err != nil {
			return nil, err
		}
	}
	if err := re.NeedFiles(re.r.Context()); err != nil {
		return nil, err
	}
	if _, err := propose(re, fsm.ChangeDeployment, n); err != nil {
		return nil, err
	}
	return re.getDeployment()
}

// deleteDeployment answers DELETE /v2/workflows/deployments/{deployment}.
func (re *request) deleteDeployment() error {
	if err := re.NeedFiles(re.r.Context()); err != nil {
		return err
	}
	if _, err := propose(re, fsm.ChangeDeployment, workflow.DeploymentChange{Name: re.Plain(2), Delete: true}); err != nil {
		return err
	}
	re.w.WriteHeader(http.StatusOK)
	return nil
}

// admits refuses a filter that nodes below the level env.Files can't read: they would leave out a part of it.
func (re *request) admits(f *workflow.Filter) error {
	if len(f.Deployments) == 0 {
		return nil
	}
	return re.NeedFiles(re.r.Context())
}
