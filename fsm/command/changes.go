package command

import "github.com/trireme-dev/trireme/fsm/reply"

// Change describes a change of a command by a version of Redis after its first, as COMMAND DOCS
// reports it. Versions beyond the one that we are compared with appear if the option is served
// here.
type Change struct{ Version, What string }

// The changes that several commands share.
var (
	takesElements   = Change{"2.4.0", "Takes several elements."}
	takesFraction   = Change{"6.0.0", "The timeout may have a fraction."}
	takesConditions = Change{"7.0.0", "Takes NX, XX, GT and LT."}
	tellsMissing    = Change{"2.8.0", "Answers -2 for a key that is missing."}
	takesAnyCase    = Change{"7.0.0", "Units may be in upper case."}
	takesCount      = Change{"6.2.0", "Takes a count."}
	takesAsync      = Change{"4.0.0", "Takes ASYNC."}
	takesSync       = Change{"6.2.0", "Takes SYNC."}
	takesReferences = Change{"8.2.0", "Takes KEEPREF, DELREF and ACKED."}
	takesOpenEnds   = Change{"6.2.0", "The ends of the interval may be excluded."}
)

// history is the row's changes as COMMAND DOCS reports them: pairs of a version and what it changed.
func (c *Command) history() []reply.Value {
	var all []reply.Value
	for _, change := range c.Changes {
		all = append(all, reply.Array(reply.Bulk(change.Version), reply.Bulk(change.What)))
	}
	return all
}
