package cli

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// poisonView is the entry before which a node waits.
type poisonView struct {
	Index     uint64   `json:"index"`
	Database  string   `json:"database"`
	Operation string   `json:"operation"`
	Databases []string `json:"databases"`
}

// recoverCommand shows the nodes that wait before a log entry that has ended them, and makes them continue.
func recoverCommand() *cobra.Command {
	var quarantine, release string
	return newCommand(&group{scope: ofCluster}, spec{
		use: "recover", short: "Show before which log entry nodes wait that it has ended twice, and have them go on",
		long: "A node whose process has ended twice at one entry of the log does not apply it a third time: it answers no requests and waits.\n" +
			"Without flags the command says which nodes wait, before which entry, of which database.\n" +
			"--quarantine has all nodes go on without that database: nothing of it is done any more, from that entry on, and what it had\n" +
			"before the entry stays. Its clients get an error. export still reads it, databases delete deletes it.\n" +
			"--release ends the quarantine, once all nodes run a version in which the fault is mended.",
		example: "recover\nrecover --quarantine shop\nrecover --release shop",
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&quarantine, "quarantine", "", "quarantine this `DATABASE`, to which the entry belongs")
			f.StringVar(&release, "release", "", "`DATABASE` whose quarantine ends")
		},
		run: func(s *session) error {
			switch {
			case quarantine != "" && release != "":
				return Usagef("both --quarantine and --release are given: give one of them")
			case quarantine != "":
				return s.quarantine(quarantine)
			case release != "":
				return s.release(release)
			}
			return s.poisoned()
		},
	})
}

// quarantine makes the nodes continue without a database.
func (s *session) quarantine(database string) error {
	s.SetTimeout(changeTimeout)
	var doc json.RawMessage
	if err := s.Call(s.ctx, "POST", databasePath(database)+"/quarantine", nil, &doc); err != nil {
		return err
	}
	var at struct{ Index uint64 }
	if json.Unmarshal(doc, &at) != nil {
		return s.noNode()
	}
	return s.say(doc, "the cluster goes on without %s, from log entry %d on", database, at.Index)
}

// release ends the quarantine of a database.
func (s *session) release(database string) error {
	var doc json.RawMessage
	if err := s.Call(s.ctx, "DELETE", databasePath(database)+"/quarantine", nil, &doc); err != nil {
		return err
	}
	return s.say(doc, "%s is not in quarantine any more", database)
}

// poisoned says which nodes wait, and which databases are in quarantine.
func (s *session) poisoned() error {
	doc, err := s.get("/admin/cluster")
	if err != nil {
		return err
	}
	if done, err := s.structured(s.cmd.OutOrStdout(), doc); done {
		return err
	}
	if !s.forPeople() {
		return s.poisonedRows(doc)
	}
	var view clusterView
	if json.Unmarshal(doc, &view) != nil {
		return s.noNode()
	}
	found := 0
	for _, n := range view.Nodes {
		if n.Poison == nil {
			continue
		}
		found++
		fmt.Fprintln(s.cmd.OutOrStdout(), n.ID+" "+n.Poison.text())
	}
	if found > 0 {
		return nil
	}
	return s.quarantined()
}

// poisonedRows prints the nodes that wait, for programs.
func (s *session) poisonedRows(doc []byte) error {
	nodes, err := s.itemsOf(doc, "nodes")
	if err != nil {
		return err
	}
	waiting := slices.DeleteFunc(nodes, func(n any) bool { return column{member: "poison"}.raw(n) == nil })
	return s.rows(s.cmd.OutOrStdout(), doc, waiting, []column{
		{"NODE", "id", nil, named}, {"ENTRY", "poison.index", nil, keep}, {"OPERATION", "poison.operation", nil, keep}, {"DATABASE", "poison.database", nil, keep},
	})
}

// text says what a node waits for, and what to do.
func (v *poisonView) text() string {
	text := fmt.Sprintf("waits before log entry %d (%s), which has ended it twice", v.Index, dash(v.Operation))
	if v.Database == "" {
		return text + " in the work of no database: start all nodes with a version in which that is mended; requests of the entry are of " + dash(strings.Join(v.Databases, ", "))
	}
	return text + " in the work of database " + v.Database + ": recover --quarantine " + v.Database + " has all nodes go on without it"
}

// quarantined lists the databases in quarantine.
func (s *session) quarantined() error {
	all, err := s.pages(&databaseList, nil, paging{})
	if err != nil {
		return err
	}
	fmt.Fprintln(s.cmd.OutOrStdout(), "no node waits before a log entry")
	for _, item := range all.items {
		var d struct {
			Name             string
			QuarantinedSince uint64
		}
		if json.Unmarshal(item, &d) != nil {
			return s.noNode()
		}
		if d.QuarantinedSince > 0 {
			fmt.Fprintf(s.cmd.OutOrStdout(), "%s is in quarantine since log entry %d: recover --release %s ends that\n", d.Name, d.QuarantinedSince, d.Name)
		}
	}
	return nil
}
