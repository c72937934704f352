package cli

import (
	"encoding/json"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/trireme-dev/trireme/internal/plural"
)

const deploymentPath = "/v2/workflows/deployments"

func deploymentGroup() *cobra.Command {
	g := newGroup(ofDatabase, "deployments", "List deployments of workflow runs, set them, and move runs between them", "deployment")
	g.listsAll("List the deployments", "deployments list\ndeployments list --output json", deploymentPath, []column{
		{"DEPLOYMENT", "name", nil, named}, {"URL", "url", nil, keep}, {"ACTIVE RUNS", "activeRuns", nil, keep}, {"OLDEST RUN", "oldestRun.workflowCreatedAt", when, keep},
		{"MOVE TO", "moveTo", nil, keep}, {"WHEN", "when", nil, keep}, {"CREATED", "createdAt", when, drops}, {"UPDATED", "updatedAt", when, wide},
	})
	g.shows(spec{use: "get NAME", short: "Show a deployment", complete: deploymentNames, example: "deployments get v42"}, deploymentPath+"/", "name")
	g.keepers()
	g.setDeployment()
	g.moveDeployment()
	g.deletes("deployment", deploymentPath+"/", "Delete a deployment that no active run is on", deploymentNames)
	return g.Command
}

// keepers adds the command that says which runs keep a deployment alive.
func (g *group) keepers() {
	var p paging
	g.add(spec{
		view: watched, use: "explain NAME", short: "Explain which runs keep a deployment alive, the oldest first", args: cobra.ExactArgs(1), complete: deploymentNames,
		example: "deployments explain v42\ndeployments explain v42 --limit 0 --output json",
		flags:   p.flags,
		run: func(s *session) error {
			return s.printPage(&listing{
				path: deploymentPath + "/" + escape(s.args[0]) + "/explain", key: "runs", id: "workflowRunId", most: 100,
				columns: []column{
					{"RUN", "workflowRunId", nil, named}, {"CREATED", "workflowCreatedAt", when, keep}, {"REASON", "reason", nil, keep}, {"TEXT", "text", nil, keep},
					{"SINCE", "since", when, drops}, {"NEXT", "next", when, drops}, {"WORKFLOW", "workflowUrl", nil, wide},
				},
			}, url.Values{}, p)
		},
	})
}

// moveWhen says which runs of a deployment its rule may move.
var moveWhen = []string{"unstarted", "always"}

// setDeployment adds the command that makes a deployment or changes its rule.
func (g *group) setDeployment() {
	moveTo, at := "", ""
	g.add(spec{
		use: "set NAME [URL]", short: "Create a deployment, or change its rule", args: cobra.RangeArgs(1, 2), complete: deploymentNames,
		long:    "Creates a deployment, or gives one that exists the rule given here; without --move-to it has none. URL is that of its host, without a path; it stays, unless no active run is on it.",
		example: "deployments set v42 https://app-v42.example\ndeployments set v42 --move-to v43 --when always",
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&moveTo, "move-to", "", "`NAME` of the deployment that its runs move to by themselves")
			f.StringVar(&at, "when", "", "`WHICH` runs move: "+listed(moveWhen)+" (default unstarted)")
			_ = f.SetAnnotation("when", choicesKey, moveWhen) // fails for a flag that is not there
		},
		run: func(s *session) error {
			if at != "" {
				if err := checkChoice("when", at, moveWhen); err != nil {
					return err
				}
			}
			body, to := map[string]string{}, strings.Join(s.args[1:], "")
			for name, text := range map[string]string{"url": to, "moveTo": moveTo, "when": at} {
				if text != "" {
					body[name] = text
				}
			}
			var doc json.RawMessage
			if err := s.Call(s.ctx, "PUT", s.in(deploymentPath+"/"+escape(s.args[0])), body, &doc); err != nil {
				return err
			}
			var n struct {
				URL string `json:"url"`
			}
			if json.Unmarshal(doc, &n) != nil {
				return s.noNode()
			}
			return s.say(doc, "the deployment %s is at %s", s.args[0], n.URL)
		},
	})
}

// moveDeployment adds the command that moves the runs of a deployment.
func (g *group) moveDeployment() {
	var chosen filters
	var c consent
	to := ""
	g.add(spec{
		use: "move NAME", short: "Move the active runs of a deployment to another one", args: cobra.ExactArgs(1), complete: deploymentNames,
		long:    "Moves all active runs of a deployment, or those that filters choose. Attempts under way go on; what comes goes to the other deployment.",
		example: "deployments move v42 --to v43 --yes\ndeployments move v42 --to v43 --label billing --dry-run",
		flags: func(f *pflag.FlagSet) {
			chosen.flags(f, movedFilters, runHostFilters)
			c.flags(f)
			f.StringVar(&to, "to", "", "`NAME` of the other deployment; empty for none, which is the run's own URL")
		},
		run: func(s *session) error {
			query, err := chosen.query(time.Now())
			if err != nil {
				return err
			}
			if !s.cmd.Flags().Changed("to") {
				return Usagef("give --to: the name of a deployment, or an empty one")
			}
			find := func() ([]string, error) { return s.runsOn(query) }
			return c.carry(s, act{"move", "run", find, func() error { return s.moveRuns(query, to) }})
		},
	})
}

// movedFilters choose of the runs of a deployment.
var movedFilters = append([]filter{createdFilter, runMessageFilter}, runFilters[:4]...)

// runsOn are the active runs on the deployment of the command that filters choose.
func (s *session) runsOn(filters url.Values) ([]string, error) {
	if _, err := s.get(s.in(deploymentPath + "/" + escape(s.args[0]))); err != nil {
		return nil, err
	}
	query := url.Values{"state": {"RUN_STARTED"}, "deployment": {s.args[0]}}
	for name, values := range filters {
		query[name] = values
	}
	items, err := s.every(&runList, query)
	return texts(items, "workflowRunId"), err
}

// moveRuns moves the runs of the deployment of the command that filters choose.
func (s *session) moveRuns(filters url.Values, to string) error {
	query := url.Values{"to": {to}}
	for name, values := range filters {
		query[name] = values
	}
	var doc json.RawMessage
	if err := s.receive(s.ctx, request{method: "POST", path: s.in(deploymentPath + "/" + escape(s.args[0]) + "/move"), query: query}, &doc); err != nil {
		return err
	}
	var n struct {
		Moved int `json:"moved"`
	}
	if json.Unmarshal(doc, &n) != nil {
		return s.noNode()
	}
	return s.say(doc, "moved %s to %s", plural.Of(n.Moved, "run"), deploymentName(to))
}

// deploymentName is a deployment as people read it.
func deploymentName(name string) string {
	if name == "" {
		return "no deployment"
	}
	return "the deployment " + name
}

// moveRun adds the command that moves single runs.
func (g *group) moveRun() {
	to := ""
	g.add(spec{
		use: "move ID…", short: "Move workflow runs to another deployment", args: cobra.MinimumNArgs(1), complete: runList.newest,
		example: "runs move wfr_7uP… --to v43",
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&to, "to", "", "`NAME` of the deployment; empty for none, which is the run's own URL")
		},
		run: func(s *session) error {
			if !s.cmd.Flags().Changed("to") {
				return Usagef("give --to: the name of a deployment, or an empty one")
			}
			for _, id := range s.args {
				var doc json.RawMessage
				if err := s.Call(s.ctx, "POST", s.in("/v2/workflows/runs/"+escape(id)+"/move"), map[string]string{"to": to}, &doc); err != nil {
					return err
				}
				if err := s.say(doc, "moved the run %s to %s", id, deploymentName(to)); err != nil {
					return err
				}
			}
			return nil
		},
	})
}
