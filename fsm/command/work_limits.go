package command

import "math"

// DefaultMaxWork and DefaultMaxScript are the limits of a cluster that sets none: about a
// second of work, and about a second and a half of Lua.
const (
	DefaultMaxWork   = 10_000_000
	DefaultMaxScript = 100_000_000
)

// Unlimited is a limit that Limits stores for none, where 0 is the default.
const Unlimited = -1

// limitOr is a limit as it is in force: math.MaxInt64 for none.
func limitOr(limit, standard int64) int64 {
	switch {
	case limit == 0:
		return standard
	case limit < 0:
		return math.MaxInt64
	}
	return limit
}

// DefaultTenantWork and DefaultTenantScript are the parts of both limits, in percent, that a request may use which writes
// to a database other than default: at most about 50 ms of work.
const (
	DefaultTenantWork   = 5
	DefaultTenantScript = 2
)

// Part reduces the limits of work and scripts to so many percent. No limit stays none.
func (l *Limits) Part(work, script int64) {
	l.MaxWork, l.MaxScript = partOf(l.Work(), work), partOf(l.Script(), script)
}

func partOf(limit, percent int64) int64 {
	if limit == math.MaxInt64 {
		return Unlimited
	}
	return max(limit/100*percent+limit%100*percent/100, 1)
}

// Work is the most steps of work of one request, math.MaxInt64 for no limit.
func (l *Limits) Work() int64 { return limitOr(l.MaxWork, DefaultMaxWork) }

// Script is the most steps that the scripts of a transaction or a row may use, math.MaxInt64
// for no limit.
func (l *Limits) Script() int64 { return limitOr(l.MaxScript, DefaultMaxScript) }

// WorkSetting and ScriptSetting are the limits as people set them: 0 = unlimited.
func (l *Limits) WorkSetting() int64 { return settingOf(l.Work()) }

// ScriptSetting returns the limit of scripts in the form of its setting (0 = unlimited).
func (l *Limits) ScriptSetting() int64 { return settingOf(l.Script()) }

func settingOf(limit int64) int64 {
	if limit == math.MaxInt64 {
		return 0
	}
	return limit
}

// SetWork takes both limits as people set them. A default is stored as 0, which nodes of the
// version before understand.
func (l *Limits) SetWork(request, script int64) {
	l.MaxWork, l.MaxScript = storedLimit(request, DefaultMaxWork), storedLimit(script, DefaultMaxScript)
}

func storedLimit(setting, standard int64) int64 {
	switch setting {
	case 0:
		return Unlimited
	case standard:
		return 0
	}
	return setting
}
