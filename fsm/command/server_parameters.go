package command

import (
	"strconv"

	"github.com/trireme-dev/trireme/fsm/reply"
)

// parameter is a parameter of Redis that tools read and that is not set here: its value says
// what holds in this system, and why says why it can't be another.
type parameter struct {
	name, why string
	value     func(tx *Tx) string
}

func holds(text string) func(*Tx) string { return func(*Tx) string { return text } }

// Reasons of several parameters.
const (
	whyDurable = "every write is on the disks of a majority before it is answered"
	whyScripts = "a script ends by the steps that it takes: set max-script-steps"
)

// parameters in the order of their names.
var parameters = []parameter{
	{"appendfsync", whyDurable, holds("always")},
	{"appendonly", whyDurable, holds("yes")},
	{"busy-reply-threshold", whyScripts, holds("0")},
	{"cluster-enabled", "any node answers for all keys", holds("yes")},
	{"databases", "databases are made by /admin/databases", holds("1")},
	{"lua-time-limit", whyScripts, holds("0")},
	{"maxmemory", "the operator sets it: --max-memory, and maxMemory of a database", func(tx *Tx) string { return strconv.FormatInt(tx.lowestLimit(), 10) }},
	{"save", whyDurable, holds("")},
	{"timeout", "a connection with a user is never closed for being idle", holds("0")},
	{"tracking-table-max-keys", "it is a flag of each node: --resp-tracked-keys", trackedKeys},
}

// parameter finds a parameter that is not set here.
func (tx *Tx) parameter(name string) *parameter {
	if !tx.tellsParameters() {
		return nil
	}
	for i := range parameters {
		if parameters[i].name == name {
			return &parameters[i]
		}
	}
	return nil
}

// trackedKeys are the most keys that the node tracks for clients.
func trackedKeys(tx *Tx) string { return strconv.FormatInt(tx.totals().MostTracked, 10) }

// appendParameters adds settings and parameters that match a pattern.
func (tx *Tx) appendParameters(to []reply.Value, patterns []string) []reply.Value {
	if !tx.tellsParameters() {
		return to
	}
	add := func(name string, value func() string) {
		for _, pattern := range patterns {
			if tx.overFound() {
				return
			}
			if name != "" && tx.matches(pattern, name) {
				to = append(to, reply.Bulk(name), reply.Bulk(value()))
				return
			}
		}
	}
	for at := range settings {
		value := func() string {
			if at == evictionPolicy {
				return tx.policy().String()
			}
			return strconv.FormatInt(tx.Config.value(at), 10)
		}
		add(settings[at].name, value)
		add(settings[at].alias, value)
	}
	for _, p := range parameters {
		add(p.name, func() string { return p.value(tx) })
	}
	return to
}
