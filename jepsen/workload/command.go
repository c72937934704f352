package workload

import (
	"encoding/json"
	"fmt"
	"strconv"

	"trireme/jepsen/history"
)

// command is the command line of an operation.
func command(op history.Op) []string {
	switch op.Kind {
	case history.Read:
		return []string{"GET", op.Key}
	case history.Write:
		return []string{"SET", op.Key, op.Value}
	case history.Create:
		return []string{"SET", op.Key, op.Value, "NX"}
	case history.CompareAndSet:
		return []string{"SET", op.Key, op.Value, "IFEQ", op.Expect}
	case history.Add:
		return []string{"INCRBY", op.Key, strconv.FormatInt(op.Delta, 10)}
	default:
		panic("no command for " + string(op.Kind))
	}
}

// interpret fills in the result. A reply of the wrong shape is turned into an
// unknown outcome with an error that the checkers report.
func interpret(op *history.Op, result json.RawMessage) {
	var err error
	switch op.Kind {
	case history.Read:
		op.Found, op.Read, err = text(result)
	case history.Add:
		op.Sum, err = strconv.ParseInt(string(result), 10, 64)
	default:
		op.Found, err = stored(result)
	}
	if err != nil {
		op.Outcome = history.Unknown
		op.Error = fmt.Sprintf("%s: %v", history.Malformed, err)
	}
}

// text reads a string or null.
func text(result json.RawMessage) (found bool, value string, err error) {
	var s *string
	if err := json.Unmarshal(result, &s); err != nil || s == nil {
		return false, "", err
	}
	return true, *s, nil
}

// stored reads the reply of SET: OK, or null when its condition did not hold.
func stored(result json.RawMessage) (bool, error) {
	found, value, err := text(result)
	if err == nil && found && value != "OK" {
		err = fmt.Errorf("SET answered %q", value)
	}
	return found, err
}
