package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// clusterView is the answer of GET /admin/cluster.
type clusterView struct {
	Leader string     `json:"leader"`
	Term   uint64     `json:"term"`
	Nodes  []nodeView `json:"nodes"`
	// ShortHistories are those that give way to their bytes long before their retention is over.
	ShortHistories []historyView `json:"shortHistories"`
}

type historyView struct {
	Database    string `json:"database"`
	Of          string `json:"of"`
	ReachMs     int64  `json:"reachMs"`
	RetentionMs int64  `json:"retentionMs"`
	MaxBytes    int64  `json:"maxBytes"`
}

// nodeView is one node of the reply. LastContactMs is the time since the node last heard from its
// leader, or -1 if it does not answer.
type nodeView struct {
	ID            string      `json:"id"`
	HTTP          string      `json:"http"`
	Cluster       string      `json:"cluster"`
	Suffrage      string      `json:"suffrage"`
	State         string      `json:"state"`
	AppliedIndex  uint64      `json:"appliedIndex"`
	LastContactMs int64       `json:"lastContactMs"`
	Poison        *poisonView `json:"poison"`
}

func clusterGroup() *cobra.Command {
	g := newGroup(ofCluster, "cluster", "Show and change a running cluster")
	g.status()
	g.transfer()
	g.drain()
	g.removeNode()
	g.replaceNode()
	return g.Command
}

func (s *session) cluster() (v clusterView, err error) {
	err = s.Call(s.ctx, "GET", "/admin/cluster", nil, &v)
	return v, err
}

func (g *group) status() {
	g.add(spec{
		use: "status", short: "Show the nodes and the leader", example: "cluster status\ncluster status --watch", view: watched,
		flags: func(f *pflag.FlagSet) { g.oneLine(f) },
		run:   func(s *session) error { return s.printStatus(s.cmd.OutOrStdout()) },
	})
}

func (s *session) printStatus(out io.Writer) error {
	doc, err := s.get("/admin/cluster")
	if err != nil {
		return err
	}
	if done, err := s.structured(out, doc); done {
		return err
	}
	var view clusterView
	if json.Unmarshal(doc, &view) != nil {
		return s.noNode()
	}
	items, err := s.itemsOf(doc, "nodes")
	if err != nil {
		return err
	}
	if err := s.rows(out, doc, items, nodeColumns); err != nil || !s.forPeople() {
		return err
	}
	return view.notes(out)
}

var nodeColumns = []column{
	{"ID", "id", nil, named}, {"STATE", "", nodeState, keep}, {"SUFFRAGE", "suffrage", nil, drops}, {"APPLIED", "appliedIndex", nil, keep},
	{"LAST CONTACT", "lastContactMs", millis, keep}, {"HTTP", "http", nil, keep}, {"CLUSTER", "cluster", nil, drops}, {"VERSION", "version", nil, drops},
}

// nodeState is the form of a node's state, with what is wrong with it.
var nodeState = &form{text: stateOfNode, data: stateOfNode, paint: func(v any) style {
	switch state := stateOfNode(v); {
	case state == "leader":
		return green
	case state == "follower":
		return plainStyle
	case strings.HasPrefix(state, "leader") || strings.HasPrefix(state, "follower"):
		return yellow
	}
	return red
}}

func stateOfNode(v any) string {
	m, _ := v.(map[string]any)
	state := plain(m["state"])
	if m["leaving"] == true {
		state += ", leaving"
	}
	if m["poison"] != nil {
		state += ", waits before poison entry"
	}
	if n, _ := number(m["slowDiskMs"]); n > 0 {
		state += ", slow disk"
	}
	return state
}

// notes prints what is below the table.
func (v *clusterView) notes(out io.Writer) error {
	for _, h := range v.ShortHistories {
		reach, retention := time.Duration(h.ReachMs)*time.Millisecond, time.Duration(h.RetentionMs)*time.Millisecond
		fmt.Fprintf(out, "database %s: its %s go back %s of %s, for they take all of their %d MiB\n", h.Database, h.Of, reach.Round(time.Minute), retention, h.MaxBytes>>20)
	}
	_, err := fmt.Fprintf(out, "leader %s, term %d\n", dash(v.Leader), v.Term)
	return err
}

func (g *group) transfer() {
	var to, from string
	g.add(spec{
		use: "transfer-leader", short: "Transfer leadership to another node",
		long:    "With --from it does nothing where another node leads, so that each node can call it before it stops.",
		example: "cluster transfer-leader\ncluster transfer-leader --from n1 --to n2",
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&from, "from", "", "transfer only if the node with this `ID` is leader; self = the node of TRIREME_NODE_ID")
			f.StringVar(&to, "to", "", "`ID` of the next leader (default: the most up-to-date voter)")
			g.oneLine(f)
		},
		run: func(s *session) error { return s.transferLeader(from, to) },
	})
}

// drain has the node that is asked leave its clients; a hook calls it before the node is stopped.
func (g *group) drain() {
	g.add(spec{
		use: "drain", short: "Have the node that is asked leave its clients before it is stopped",
		long: "For the time of its --drain the node reports that it is not ready, still answers, and transfers leadership and deliveries to\n" +
			"another one. Then the command returns: stop the node, which does not drain again. It stays not ready until it is started anew.\n" +
			"A node drains when it is stopped too; this is for hooks that run before that, such as preStop of Kubernetes.",
		example: "cluster drain",
		flags:   func(f *pflag.FlagSet) { g.oneLine(f) },
		run: func(s *session) error {
			s.SetTimeout(changeTimeout)
			var doc json.RawMessage
			if err := s.Call(s.ctx, "POST", "/admin/drain", nil, &doc); err != nil {
				return err
			}
			return s.say(doc, "drained: stop the node now")
		},
	})
}

func (s *session) transferLeader(from, to string) error {
	self := from == "self" // a hook of a node that stops, which may have left
	if self {
		if from = os.Getenv("TRIREME_NODE_ID"); from == "" {
			return Usagef("--from self is the node of TRIREME_NODE_ID, which is not set")
		}
	}
	view, err := s.cluster()
	if err != nil {
		return err
	}
	if from != "" && !self && view.node(from) == nil {
		return errorf(ExitUnknown, "%s is not a node of the cluster: cluster status shows them", from)
	}
	if from != "" && view.Leader != from {
		return s.say(map[string]string{"result": "unchanged", "leader": view.Leader}, "nothing to do: %s does not lead, %s does", from, dash(view.Leader))
	}
	if to != "" {
		switch n := view.node(to); {
		case to == view.Leader:
			return s.say(map[string]string{"result": "unchanged", "leader": to}, "nothing to do: %s leads already", to)
		case n == nil:
			return errorf(ExitUnknown, "%s is not a node of the cluster: cluster status shows them", to)
		case n.Suffrage != "voter":
			return errorf(ExitFailed, "%s can't lead: it is a non-voter; cluster replace makes it a voter", to)
		}
	}
	body := map[string]string{}
	if to != "" {
		body["to"] = to
	}
	var doc json.RawMessage
	if err := s.Call(s.ctx, "POST", "/admin/cluster/transfer-leader", body, &doc); err != nil {
		return err
	}
	return s.say(doc, "leadership transferred")
}

func (v *clusterView) node(id string) *nodeView {
	if i := slices.IndexFunc(v.Nodes, func(n nodeView) bool { return n.ID == id }); i >= 0 {
		return &v.Nodes[i]
	}
	return nil
}

// changeTimeout covers the slowest change of nodes, and a long --drain: one that leaves may drain for ten
// seconds.
const changeTimeout = 45 * time.Second

func nodePath(id string) string { return "/admin/cluster/nodes/" + url.PathEscape(id) }

// knownNode is a find for a node.
func (s *session) knownNode(id string) func() ([]string, error) {
	return func() ([]string, error) {
		view, err := s.cluster()
		if err == nil && view.node(id) == nil {
			err = errorf(ExitUnknown, "%s is not a node of the cluster: cluster status shows them", id)
		}
		return []string{id}, err
	}
}

func (g *group) removeNode() {
	var c consent
	force := false
	g.add(spec{
		use: "remove ID", short: "Remove a node from the cluster", args: cobra.ExactArgs(1), complete: nodeNames,
		long: "Removes a node: it finishes its requests, transfers leadership, leaves and stops. If a non-voter has caught up, it\n" +
			"becomes a voter first. Refused if fewer than three voters would remain, unless --force is given, and always if\n" +
			"the remaining nodes that answer are no majority.",
		example: "cluster remove n1 --dry-run\ncluster remove n1 --yes",
		flags: func(f *pflag.FlagSet) {
			f.BoolVar(&force, "force", false, "remove the node even if fewer than three voters remain")
			c.flags(f)
			g.oneLine(f)
		},
		run: func(s *session) error {
			path := nodePath(s.args[0])
			if force {
				path += "?force=true"
			}
			return c.carry(s, act{"remove", "node", s.knownNode(s.args[0]), func() error {
				return s.changeNode("DELETE", path, nil, "%s is not a node of the cluster any more")
			}})
		},
	})
}

func (g *group) replaceNode() {
	var c consent
	with := ""
	g.add(spec{
		use: "replace ID --with ID", short: "Replace a node by a non-voter", args: cobra.ExactArgs(1), complete: nodeNames,
		long: "Replaces a node by one that joined as a non-voter: that one becomes a voter, and the other leaves.\n" +
			"A node that joins with --replace does the same automatically.",
		example: "cluster replace n2 --with n4 --yes",
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&with, "with", "", "`ID` of the non-voter that takes its place")
			c.flags(f)
			g.oneLine(f)
		},
		run: func(s *session) error {
			if with == "" {
				return Usagef("--with names the node that takes the place of %s", s.args[0])
			}
			return c.carry(s, act{"replace", "node", s.knownNode(s.args[0]), func() error {
				return s.changeNode("POST", nodePath(s.args[0])+"/replace", map[string]string{"with": with}, "%s is replaced")
			}})
		},
	})
}

// changeNode has a node go.
func (s *session) changeNode(method, path string, body any, said string) error {
	s.SetTimeout(changeTimeout)
	var doc json.RawMessage
	if err := s.Call(s.ctx, method, path, body, &doc); err != nil {
		return err
	}
	var view struct {
		Result string `json:"result"`
	}
	if json.Unmarshal(doc, &view) != nil {
		return s.noNode()
	}
	if view.Result == "leaving" {
		said = "%s, which was asked, finishes its requests and stops; another node's status shows when it is gone"
	}
	return s.say(doc, said, s.args[0])
}
