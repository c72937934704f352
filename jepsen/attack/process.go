package attack

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"syscall"
)

// A variable makes a process one of a part of the attack. It holds what the part has to know.
const (
	victimsVariable   = "TRIREME_ATTACK_VICTIMS"
	strangersVariable = "TRIREME_ATTACK_STRANGERS"
	hogVariable       = "TRIREME_ATTACK_NEIGHBOUR"
	// niceVariable says that the process has the priority it should have.
	niceVariable = "TRIREME_ATTACK_NICE"
)

// leastPriority is the nice value of attackers that need much of a processor: they would have machines of their own,
// and what they take from the nodes here is no part of the attack.
const leastPriority = 19

// Main serves as a process of the attack if this is one, and doesn't return then. Such a process ends with its
// standard input, and prints what it has seen.
func Main() {
	var err error
	switch {
	case os.Getenv(victimsVariable) != "":
		err = play(victimsVariable, (*victimAccess).serve)
	case os.Getenv(strangersVariable) != "":
		if err = yield(); err == nil {
			err = play(strangersVariable, (*openPorts).hold)
		}
	case os.Getenv(hogVariable) != "":
		if err = yield(); err == nil {
			err = play(hogVariable, (*hogPart).run)
		}
	default:
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// yield starts this program anew with the least priority, unless it has it. A priority is that of a thread: only
// a program that starts with it has it in all of its threads.
func yield() error {
	if os.Getenv(niceVariable) != "" {
		return nil
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	runtime.LockOSThread()
	if err := syscall.Setpriority(syscall.PRIO_PROCESS, 0, leastPriority); err != nil {
		return fmt.Errorf("priority: %w", err)
	}
	return syscall.Exec(self, os.Args, append(os.Environ(), niceVariable+"=1"))
}

func play[Part, Seen any](variable string, run func(*Part, context.Context) Seen) error {
	var part Part
	if err := json.Unmarshal([]byte(os.Getenv(variable)), &part); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() { io.Copy(io.Discard, os.Stdin); cancel() }()
	return json.NewEncoder(os.Stdout).Encode(run(&part, ctx))
}

// start starts a process of the attack. end stops it and returns what it has seen.
func start[Seen any](ctx context.Context, variable string, part any) (end func() (Seen, error), err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self)
	cmd.Env, cmd.Stderr = append(os.Environ(), variable+"="+string(words(part))), os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	cmd.Stdout = &out
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return func() (seen Seen, err error) {
		if err := errors.Join(in.Close(), cmd.Wait()); err != nil {
			return seen, fmt.Errorf("%s: %w", variable, err)
		}
		return seen, json.Unmarshal(out.Bytes(), &seen)
	}, nil
}
