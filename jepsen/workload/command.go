package workload

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/trireme-dev/trireme/jepsen/history"
	"github.com/trireme-dev/trireme/jepsen/testcluster"
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
	case history.Insert:
		return []string{"SADD", op.Key, op.Value}
	case history.Members:
		return []string{"SMEMBERS", op.Key}
	case history.Move:
		return []string{"EVAL", guarded, "2", op.Key, op.Value, strconv.FormatInt(op.Delta, 10)}
	case history.Balances:
		return append([]string{"MGET"}, accountKeys(op.Key)...)
	default:
		panic("no command for " + string(op.Kind))
	}
}

// commands are those of an operation that is performed as one transaction; nil if it is
// a single command.
func commands(op history.Op) (all [][]string) {
	switch op.Kind {
	case history.Expiring:
		return [][]string{{"SET", op.Key, op.Value, "PX", strconv.FormatInt(op.Delta, 10)}, {"PEXPIRETIME", op.Key}}
	case history.Timed:
		return [][]string{{"GET", op.Key}, {"TIME"}}
	}
	for _, p := range op.Parts {
		all = append(all, partCommand(p))
	}
	return all
}

// interpretRows fills in the results of a transaction.
func interpretRows(op *history.Op, rows []testcluster.Row) {
	var err error
	for i, row := range rows {
		if err == nil && row.Error != "" {
			err = errors.New(row.Error)
		}
		if err == nil {
			err = interpretRow(op, i, row.Result)
		}
	}
	if err != nil {
		op.Outcome, op.Error = history.Unknown, fmt.Sprintf("%s: %v", history.Malformed, err)
	}
}

func interpretRow(op *history.Op, i int, result json.RawMessage) (err error) {
	switch {
	case op.Kind == history.Expiring && i == 0:
		op.Found, err = stored(result)
	case op.Kind == history.Expiring:
		err = json.Unmarshal(result, &op.Sum)
	case op.Kind == history.Timed && i == 0:
		op.Found, op.Read, err = text(result)
	case op.Kind == history.Timed:
		op.Sum, err = clusterTime(result)
	default:
		err = interpretPart(&op.Parts[i], result)
	}
	return err
}

// clusterTime reads the reply of TIME, seconds and microseconds, as unix milliseconds.
func clusterTime(result json.RawMessage) (int64, error) {
	var words []string
	if err := json.Unmarshal(result, &words); err != nil || len(words) != 2 {
		return 0, fmt.Errorf("TIME answered %s: %w", result, err)
	}
	var seconds, micros int64
	_, err := fmt.Sscan(words[0]+" "+words[1], &seconds, &micros)
	return seconds*1000 + micros/1000, err
}

// balances reads the reply of MGET of numbers. A read from the past may come before the
// accounts were opened, all at once.
func balances(result json.RawMessage, stale bool) (list []string, err error) {
	var words []*string
	if err := json.Unmarshal(result, &words); err != nil {
		return nil, err
	}
	if stale && !slices.ContainsFunc(words, func(w *string) bool { return w != nil }) {
		return nil, nil
	}
	for _, w := range words {
		if w == nil {
			return nil, fmt.Errorf("an account is missing: %s", result)
		}
		list = append(list, *w)
	}
	return list, nil
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
	case history.Insert, history.Move:
		var n int
		err = json.Unmarshal(result, &n)
		op.Found = n == 1
	case history.Members:
		err = json.Unmarshal(result, &op.List)
	case history.Balances:
		op.List, err = balances(result, op.Stale)
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
