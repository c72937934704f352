package command

import (
	"strings"

	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/glob"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// Config are the replicated parameters of CONFIG.
type Config struct {
	// Notify are the classes of keyspace events that are sent.
	Notify Events
}

// notifyName is the one parameter that is set.
const notifyName = "notify-keyspace-events"

// configGet answers the parameters that match a pattern.
func configGet(tx *Tx, a *Args) reply.Value {
	patterns, pairs := a.Rest(), []reply.Value(nil)
	for _, pattern := range patterns {
		if glob.Match(strings.ToLower(string(pattern)), notifyName) {
			pairs = []reply.Value{reply.Bulk(notifyName), reply.Bulk(tx.Config.Notify.String())}
			break
		}
	}
	return reply.Map(tx.appendParameters(pairs, patterns)...)
}

// tellsParameters reports whether parameters are told that are not set here: from level 2 on, and not
// over HTTP, where the reference service has the one.
func (tx *Tx) tellsParameters() bool { return tx.Level >= env.Level2 && !tx.Origin.rest() }

// configSet changes parameters, all of them or none.
func configSet(tx *Tx, a *Args) reply.Value {
	words, notify, seen := a.Rest(), Events(0), false
	if len(words)%2 != 0 {
		return ErrSyntax
	}
	for i := 0; i < len(words); i += 2 {
		name := strings.ToLower(string(words[i]))
		failed := "ERR CONFIG SET failed (possibly related to argument '" + shown(string(words[i])) + "') - "
		if p := tx.parameter(name); p != nil {
			if strings.EqualFold(string(words[i+1]), p.value(tx)) {
				continue // a tool sets what it needs, and has it
			}
			return reply.Error(failed + "can't be set: " + p.why)
		}
		if name != notifyName {
			return reply.Error("ERR Unknown option or number of arguments for CONFIG SET - '" + shown(string(words[i])) + "'")
		}
		events, ok := ParseEvents(string(words[i+1]))
		switch {
		case seen:
			return reply.Error(failed + "duplicate parameter")
		case !ok:
			return reply.Error(failed + "Invalid event class character. Use 'Ag$lshzxeKEtmdn'.")
		}
		notify, seen = events, true
	}
	if seen {
		tx.Config.Notify = notify
		tx.Arm()
	}
	return reply.OK()
}
