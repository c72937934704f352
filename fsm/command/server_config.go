package command

import (
	"strings"

	"github.com/trireme-dev/trireme/fsm/glob"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// Config are the replicated parameters of CONFIG.
type Config struct {
	// Notify are the classes of keyspace events that are sent.
	Notify Events
}

// notifyName is the one parameter that there is.
const notifyName = "notify-keyspace-events"

// configGet answers the parameters that match a pattern.
func configGet(tx *Tx, a *Args) reply.Value {
	for _, pattern := range a.Rest() {
		if glob.Match(strings.ToLower(string(pattern)), notifyName) {
			return reply.Map(reply.Bulk(notifyName), reply.Bulk(tx.Config.Notify.String()))
		}
	}
	return reply.Map()
}

// configSet changes parameters, all of them or none.
func configSet(tx *Tx, a *Args) reply.Value {
	words, notify, seen := a.Rest(), Events(0), false
	if len(words)%2 != 0 {
		return ErrSyntax
	}
	for i := 0; i < len(words); i += 2 {
		name := strings.ToLower(string(words[i]))
		failed := "ERR CONFIG SET failed (possibly related to argument '" + shown(string(words[i])) + "') - "
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
	tx.Config.Notify = notify
	tx.Arm()
	return reply.OK()
}
