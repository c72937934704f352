package fakenode

import (
	"strconv"
	"strings"
	"time"
)

// apply runs one command on a map. Lists and sets are texts with a space before each
// value; a key that expires has its moment under another key.
func apply(state map[string]string, argv []string) any {
	switch argv[0] {
	case "GET":
		return get(state, argv[1])
	case "MGET":
		var all []any
		for _, key := range argv[1:] {
			all = append(all, get(state, key))
		}
		return all
	case "INCR", "INCRBY":
		return add(state, argv[1], number(append(argv, "1")[2]))
	case "RPUSH":
		state[argv[1]] += " " + argv[2]
		return len(strings.Fields(state[argv[1]]))
	case "LRANGE", "SMEMBERS":
		return append([]string{}, strings.Fields(state[argv[1]])...)
	case "SADD":
		if strings.Contains(state[argv[1]]+" ", " "+argv[2]+" ") {
			return 0
		}
		state[argv[1]] += " " + argv[2]
		return 1
	case "EVAL": // moves money: script 2 from to amount
		if number(state[argv[3]]) < number(argv[5]) {
			return 0
		}
		add(state, argv[3], -number(argv[5]))
		add(state, argv[4], number(argv[5]))
		return 1
	case "MSETNX":
		if _, found := state[argv[1]]; found {
			return 0
		}
		for i := 1; i < len(argv); i += 2 {
			state[argv[i]] = argv[i+1]
		}
		return 1
	case "PEXPIRETIME":
		return number(state[expiry(argv[1])])
	case "TIME":
		now := time.Now()
		return []string{strconv.FormatInt(now.Unix(), 10), strconv.FormatInt(int64(now.Nanosecond()/1000), 10)}
	default:
		return set(state, argv)
	}
}

func expiry(key string) string { return "\x00until " + key }

func number(text string) int64 {
	n, _ := strconv.ParseInt(text, 10, 64)
	return n
}

func get(state map[string]string, key string) any {
	value, found := state[key]
	until, expires := state[expiry(key)]
	if !found || expires && time.Now().UnixMilli() >= number(until) {
		return nil
	}
	return value
}

func add(state map[string]string, key string, by int64) int64 {
	n := number(state[key]) + by
	state[key] = strconv.FormatInt(n, 10)
	return n
}

// set is SET key value [NX | IFEQ value | PX milliseconds].
func set(state map[string]string, argv []string) any {
	old, found := state[argv[1]]
	switch {
	case len(argv) == 4 && found:
		return nil
	case len(argv) == 5 && argv[3] == "IFEQ" && old != argv[4]:
		return nil
	case len(argv) == 5 && argv[3] == "PX":
		state[expiry(argv[1])] = strconv.FormatInt(time.Now().UnixMilli()+number(argv[4]), 10)
	}
	state[argv[1]] = argv[2]
	return "OK"
}
