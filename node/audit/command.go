package audit

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// acts are the commands that are administrative, by container and subcommand, with what says more about one of them.
var acts = map[string]map[string]func(words [][]byte) (target, detail string){
	"acl": {
		"setuser":   setUser,
		"deluser":   allWords,
		"resttoken": firstWord, // the second one is a password
	},
	"config": {"set": setParameters},
}

// find is the act of a command, if it is administrative; quickly no for all others.
func find(argv [][]byte) (act string, about func([][]byte) (string, string), is bool) {
	if len(argv) < 2 || !command.EqualFold(argv[0], "ACL") && !command.EqualFold(argv[0], "CONFIG") {
		return "", nil, false
	}
	first, second := strings.ToLower(string(argv[0])), strings.ToLower(string(argv[1]))
	about, is = acts[first][second]
	return first + " " + second, about, is
}

// Caller identifies the user and the address of a command.
type Caller struct {
	As                       acl.Identity
	From, Forwarded, Request string
	Session                  string // of the console, see Record
}

// Wants reports whether any of the rows is administrative.
func (l *Log) Wants(rows [][][]byte) bool {
	return l != nil && slices.ContainsFunc(rows, func(argv [][]byte) bool { _, _, is := find(argv); return is })
}

// Commands records those of a request that are administrative, with their replies.
func (l *Log) Commands(by Caller, rows [][][]byte, values []reply.Value) {
	for i := range min(len(rows), len(values)) {
		l.command(by, rows[i], &values[i])
	}
}

// Unanswered records the administrative ones of a request that failed as a whole.
func (l *Log) Unanswered(by Caller, rows [][][]byte, why reply.Value) {
	for _, argv := range rows {
		l.command(by, argv, &why)
	}
}

// command records a command if it is administrative.
func (l *Log) command(by Caller, argv [][]byte, v *reply.Value) {
	act, about, is := find(argv)
	if l == nil || !is {
		return
	}
	r := Record{
		Act: act, Database: cmp.Or(by.As.DB, "default"), Who: Who(by.As),
		From: by.From, Forwarded: Text(by.Forwarded), Request: by.Request, Session: by.Session, Outcome: Done,
	}
	r.Target, r.Detail = about(argv[2:])
	if v.IsError() {
		r.Outcome, r.Reason = Refused, Text(v.Text())
		if strings.HasPrefix(v.Text(), "UNKNOWN ") {
			r.Outcome = Unknown
		}
	}
	l.Write(r)
}

// Who names whom a token or a login stands for.
func Who(as acl.Identity) string {
	switch {
	case !as.Known():
		return Nobody
	case as.By == acl.ByAdmin:
		return "admin token"
	}
	return "user " + as.User
}

func firstWord(words [][]byte) (target, _ string) {
	if len(words) > 0 {
		target = Text(string(words[0]))
	}
	return target, ""
}

func allWords(words [][]byte) (target, _ string) {
	return Text(string(bytes.Join(words, []byte(" ")))), ""
}

// secretRules begin rules of ACL SETUSER that hold a password or its digest.
const secretRules = "><#!"

// setUser shows a user's rules, but for what follows the sign of a password.
func setUser(words [][]byte) (target, detail string) {
	target, _ = firstWord(words)
	var rules []string
	for _, w := range words[min(1, len(words)):] {
		rule := string(w)
		if rule != "" && strings.Contains(secretRules, rule[:1]) {
			rule = rule[:1] + "(hidden)"
		}
		rules = append(rules, rule)
	}
	return target, Text(strings.Join(rules, " "))
}

// setParameters shows names and values, but for values of names that speak of secrets.
func setParameters(words [][]byte) (target, detail string) {
	var names, pairs []string
	for i := 0; i < len(words); i += 2 {
		name, value := strings.ToLower(string(words[i])), ""
		if i+1 < len(words) {
			value = string(words[i+1])
		}
		if strings.Contains(name, "pass") || strings.Contains(name, "auth") || strings.Contains(name, "secret") {
			value = "(hidden)"
		}
		names, pairs = append(names, name), append(pairs, name+"="+value)
	}
	return Text(strings.Join(names, " ")), Text(strings.Join(pairs, " "))
}
