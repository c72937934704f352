package main

import (
	"strings"

	"github.com/spf13/cobra"
)

// topic is a part of the list of commands that trireme --help prints.
type topic struct {
	title    string
	commands string
}

// topics have every command, in the order of what somebody does first.
var topics = []topic{
	{"Run nodes:", "dev local-cluster serve"},
	{"Use a database:", "redis messages queues schedules groups flow dlq events runs deployments triggers"},
	{"Operate a cluster:", "top health doctor cluster databases users tokens context"},
	{"Keep and move data:", "backup restore import export recover downgrade"},
	{"About the program:", "completion help version"},
}

const rootExample = `  trireme dev --demo                                      a node on this machine, with something in it
  trireme messages list --state ERROR --from 1h           what failed in the last hour
  trireme messages explain msg_26KT…                      why a message waits
  trireme redis GET greeting                              a command on keys
  trireme top                                             what each node does now`

// order puts commands under their topics.
func order(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	under := map[string]string{}
	for _, t := range topics {
		root.AddGroup(&cobra.Group{ID: t.title, Title: t.title})
		for name := range strings.FieldsSeq(t.commands) {
			under[name] = t.title
		}
	}
	for _, cmd := range root.Commands() {
		cmd.GroupID = under[cmd.Name()]
	}
	root.Example = rootExample
}
