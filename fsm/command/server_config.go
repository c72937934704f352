package command

import (
	"strings"

	"trireme/fsm/glob"
	"trireme/fsm/reply"
)

// Config are the replicated parameters of CONFIG.
type Config struct {
	// Notify are the classes of keyspace events that are sent, in the normal form of
	// notify-keyspace-events; empty is none.
	Notify string
}

// notifyName is the one parameter that there is.
const notifyName = "notify-keyspace-events"

// The letters of notify-keyspace-events: classes that A stands for, and the others.
const (
	notifyClasses = "g$lshzxetd"
	notifyOthers  = "KEmn"
)

// normalNotify is flags in their normal form; ok is false if one is not known.
func normalNotify(flags string) (normal string, ok bool) {
	for _, c := range flags {
		if c != 'A' && !strings.ContainsRune(notifyClasses+notifyOthers, c) {
			return "", false
		}
	}
	keep := func(letters string) (kept string) {
		for _, c := range letters {
			if strings.ContainsRune(flags, c) {
				kept += string(c)
			}
		}
		return kept
	}
	classes := keep(notifyClasses)
	if strings.ContainsRune(flags, 'A') || classes == notifyClasses {
		classes = "A"
	}
	return classes + keep(notifyOthers), true
}

// configGet answers the parameters that match a pattern.
func configGet(tx *Tx, a *Args) reply.Value {
	for _, pattern := range a.Rest() {
		if glob.Match(strings.ToLower(string(pattern)), notifyName) {
			return reply.Map(reply.Bulk(notifyName), reply.Bulk(tx.Config.Notify))
		}
	}
	return reply.Map()
}

// configSet changes parameters, all of them or none.
func configSet(tx *Tx, a *Args) reply.Value {
	words, notify, seen := a.Rest(), "", false
	if len(words)%2 != 0 {
		return ErrArity("config set")
	}
	for i := 0; i < len(words); i += 2 {
		name := strings.ToLower(string(words[i]))
		failed := "ERR CONFIG SET failed (possibly related to argument '" + clean(string(words[i])) + "') - "
		if name != notifyName {
			return reply.Error("ERR Unknown option or number of arguments for CONFIG SET - '" + clean(string(words[i])) + "'")
		}
		normal, ok := normalNotify(string(words[i+1]))
		switch {
		case seen:
			return reply.Error(failed + "duplicate parameter")
		case !ok:
			return reply.Error(failed + "Invalid event class character. Use 'Ag$lshzxeKEtmdn'.")
		}
		notify, seen = normal, true
	}
	tx.Config.Notify = notify
	return reply.OK()
}
