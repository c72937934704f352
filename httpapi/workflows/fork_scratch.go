package workflows

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/workflow"
	"github.com/trireme-dev/trireme/httpapi/messages"
)

// scratch is what the answer says of a fork in a database of its own.
type scratch struct {
	Database messages.Scratch `json:"database"`
	// Keys are those that the database has, Omitted are others that the run has kept values of.
	Keys    []string     `json:"keys"`
	Omitted []omittedKey `json:"omitted"`
}

// omittedKey is a key whose value was not taken into a database, and why.
type omittedKey struct {
	Key    string `json:"key"`
	Reason string `json:"reason"`
}

// The reasons.
const (
	omittedMissing = "missing" // there was no such key
	omittedSize    = "size"    // the run had no room for its value
	omittedExpired = "expired"
)

// checkScratch refuses a fork in a database of its own that can't be.
func (re *request) checkScratch(in *forking, n *workflow.Forking) error {
	switch {
	case in.Database == "" && len(in.Keys) > 0:
		return messages.Invalid("keys are for a fork in a database of its own: name it as database")
	case in.Database == "":
		return nil
	case re.Role != acl.Admin || re.NewScratch == nil:
		return &messages.Error{Status: http.StatusForbidden, Text: "a fork in a database of its own needs the admin token, which may create databases"}
	case n.URL == "":
		return messages.Invalid("name the url of an endpoint that has the token of the new database: any other would answer to the run that is forked")
	case n.Options.CommitAs != "" && n.Options.CommitAs != acl.DefaultName:
		return messages.Invalid("invalid commit-as: a new database has no users but %s", acl.DefaultName)
	}
	if len(in.Keys) > 0 {
		if wrong := queue.WrongKept(in.Keys); wrong != "" {
			return messages.Invalid("invalid keys: %s", wrong)
		}
	}
	return nil
}

// forkInto starts a fork in a database that it makes, with the values of keys as the part of the log has left them.
func (re *request) forkInto(in *forking, n *workflow.Forking, now int64) (*forked, error) {
	out := &forked{ForkedFrom: sourceOf(&n.Of), scratch: &scratch{Keys: []string{}, Omitted: []omittedKey{}}}
	var rows [][][]byte
	if n.Data != nil {
		rows = out.restore(n.Data.Values, in.Keys, now)
	}
	made, err := re.NewScratch(re.r, in.Database, rows)
	if err != nil {
		return nil, err
	}
	ref, err := fsm.Do(re.r.Context(), made.Log, fsm.ForkRun, *n)
	if err != nil {
		return nil, errors.Join(err, re.DropScratch(re.r.Context(), in.Database))
	}
	re.w.Header().Set("Cache-Control", "no-store")
	out.run, out.Database = run{ref.ID, ref.Created}, made
	return out, nil
}

// restore returns the commands that restore the newest values of those keys that are wanted (all of them if none is named), and notes them.
func (s *scratch) restore(values []workflow.KeptValue, wanted []string, now int64) (rows [][][]byte) {
	omit := func(key, why string) { s.Omitted = append(s.Omitted, omittedKey{key, why}) }
	for _, v := range newestOf(values) {
		switch {
		case len(wanted) > 0 && !workflow.Keeps(wanted, v.Key):
			continue
		case v.Type == "":
			omit(v.Key, omittedMissing)
			continue
		case v.Omitted():
			omit(v.Key, omittedSize)
			continue
		case v.Expires != 0 && v.Expires <= now:
			omit(v.Key, omittedExpired)
			continue
		}
		row := [][]byte{[]byte("RESTORE"), []byte(v.Key), []byte("0"), v.Dump}
		if v.Expires != 0 {
			row[2] = fmt.Append(nil, v.Expires)
			row = append(row, []byte("ABSTTL"))
		}
		rows, s.Keys = append(rows, row), append(s.Keys, v.Key)
	}
	return rows
}
