package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/trireme-dev/trireme/clients"
	"github.com/trireme-dev/trireme/jepsen/testcluster"
)

// waitTimeout bounds the wait for a condition on a busy machine. No test waits for it
// to pass.
const waitTimeout = time.Minute

// TestMain lets scripts run this binary as the program under the name trireme.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"trireme": main})
}

// TestScripts runs the command line as people do; see testdata. Beside testscript's own
// commands there are:
//
//	everycommand, everyname           see every_command_test.go
//	everyform                         see forms_test.go
//	exits CODE COMMAND…               runs a command that has to end with that exit code
//	oneline                           the last command wrote one line to standard error
//	ready HOST:PORT                   waits until a node there is ready
//	answers HOST:PORT                 waits until a node there answers
//	stale URL TOKEN                   reads stale until that is refused, which it is not at first
//	client URLS TOKEN                 runs the published JavaScript client
//	devclient PORT                    runs the published client of messages in its development mode
//	lists COUNT URL TOKEN             waits until CLUSTER NODES names that many RESP ports
//	moves ID                          hands leadership to that node, until status says so
//	shows [-none] REGEXP              waits until cluster status prints a line like that, or none
//	certificate NAME AUTHORITY        writes NAME.pem and NAME.key
//	shown HOST:PORT FILE              waits until a TLS server there shows the certificate of FILE
//	printed FILE NAME                 sets a variable from the secrets that a node has generated, if the cluster has it
//	logged FILE REGEXP                waits until a file has a line like that
//	manages                           listens as a service manager, for the commands that follow
//	heard TEXT                        waits until the service manager has heard that
//	documented URL…                   compares what nodes show at /metrics with docs/metrics.md and deploy/
//	finds REGEXP ARGUMENTS…           waits until the doctor prints a line like that
//	walkthrough [restore]             runs what docs/operations.md says step by step
//	tour HEADING [TEXT]               runs what a section of README.md says, and compares the answers
//	recipes                           runs the recipes of docs/cli.md and compares what they print
//	opening PAGE                      runs the examples with which a page of docs begins, and compares the answers
//	signsin FILE STATUS               opens the link that FILE has of the console, and compares the status
//	packaged FILE                     sets the variables that a package for one node gives it
//	nodes FILE                        sets N1, N1PID, N1CLUSTER and so on from what local-cluster prints
//	jsonlog FILE                      every line is a JSON object with each key once, and none is an error
//	gone PID…                         waits until the processes have ended
//	ports NAME…                       free ports whose next two are free too
//	port NAME…                        free ports of loopback, in these variables
//	running FILE                      waits for a dev server that writes to FILE, and sets the variables it prints
//	request METHOD URL TOKEN [BODY]   prints the reply: status line, headers, body
//	hold HOST:PORT TOKEN COMMAND      sends a request but for its last byte
//	release                           sends that byte and prints the reply
//	unready HOST:PORT                 waits until a node there says that it is not ready
//	refused HOST:PORT                 waits until connections are refused there
//	terminate                         sends SIGTERM to the command started last
//	masked COMMAND…                   prints a command's output with what differs from run to run replaced
//	sets NAME COMMAND…                sets a variable to the output of a command
//	until REGEXP COMMAND…             repeats a command until it prints a line like that
//	smalldisk DIR SIZE                makes a folder that is a file system of its own, where [mounts] says that it can
//	mode OCTAL FILE                   checks a file's permissions
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:   "testdata",
		Setup: prepare,
		// TRIREME_SCRIPTS=write writes goldens anew.
		UpdateScripts: os.Getenv("TRIREME_SCRIPTS") == "write",
		Condition: func(name string) (bool, error) {
			switch name {
			case "client":
				return clients.Installed(), nil
			case "mounts":
				return mounts(), nil
			}
			return false, fmt.Errorf("unknown condition %q", name)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "oneline": oneLine, "port": port, "running": running, "signsin": signsIn,
			"masked": masked, "everyform": everyForm, "sets": sets, "until": until, "everycommand": everyCommand, "everyname": everyName,
			"smalldisk": smallDisk, "request": request, "terminate": terminate, "mode": mode, "bucket": bucket,
			"hold": hold, "release": release, "refused": refused, "unready": unready,
			"ready": reaches("/readyz"), "answers": reaches("/livez"), "nodes": nodes, "gone": gone, "ports": ports, "client": client, "devclient": devClient, "stale": stale, "moves": moves, "lists": lists,
			"shows": shows, "certificate": certificate, "shown": shown, "printed": printed, "logged": logged, "walkthrough": walkthrough, "tour": tour, "opening": opening, "recipes": recipes,
			"jsonlog": jsonLog, "packaged": packaged,
			"manages": manages, "heard": heard, "documented": metricsDocumented, "finds": finds,
		},
	})
}

// prepare keeps the settings of whoever runs the tests out of them.
func prepare(env *testscript.Env) error {
	kept := env.Vars[:0]
	for _, v := range env.Vars {
		if !strings.HasPrefix(v, envPrefix) {
			kept = append(kept, v)
		}
	}
	env.Vars = append(kept,
		"GORACE=atexit_sleep_ms=0",    // the race detector lets each process sleep for a second at its end
		"TRIREME_MIN_FREE_DISK=64MiB") // how full the machine's disk is says nothing about the scripts
	env.Values[heldKey{}] = &held{}
	env.Values[managerKey{}] = new(*manager)
	return nil
}

// reserve keeps a block of ports for a script. Scripts run side by side, and other tests
// beside them: a port that was only seen to be free may be gone when it is needed.
func reserve(ts *testscript.TestScript) *testcluster.Block {
	b, err := testcluster.ReserveBlock()
	ts.Check(err)
	ts.Defer(b.Release)
	return b
}

func port(ts *testscript.TestScript, _ bool, args []string) {
	b := reserve(ts)
	for i, name := range args {
		ts.Setenv(name, strconv.Itoa(b.Port(i)))
	}
}

func ports(ts *testscript.TestScript, _ bool, args []string) {
	b := reserve(ts)
	for i, name := range args {
		ts.Setenv(name, strconv.Itoa(b.Port(3*i)))
	}
}

// reaches waits for a 200 at a path.
func reaches(path string) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, _ bool, args []string) {
		client := &http.Client{Timeout: time.Second}
		for deadline := time.Now().Add(waitTimeout); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
			if ready(context.Background(), client, "http://"+args[0]+path) {
				return
			}
		}
		ts.Fatalf("%s%s doesn't answer 200 in time", args[0], path)
	}
}

var nodeLine = regexp.MustCompile(`(?m)^n([123]) is process ([0-9]+);`)

func nodes(ts *testscript.TestScript, _ bool, args []string) {
	base, err := strconv.Atoi(ts.Getenv("HTTP"))
	ts.Check(err)
	for i, m := range nodeLine.FindAllStringSubmatch(ts.ReadFile(args[0]), -1) {
		ts.Setenv("N"+m[1], "http://"+address(base, i))
		ts.Setenv("N"+m[1]+"PID", m[2])
	}
	if base, err = strconv.Atoi(ts.Getenv("CLUSTER")); err == nil {
		for i := range localNodes {
			ts.Setenv(fmt.Sprintf("N%dCLUSTER", i+1), address(base, i))
		}
	}
}

func logged(ts *testscript.TestScript, _ bool, args []string) {
	line := regexp.MustCompile("(?m)" + args[1])
	for deadline := time.Now().Add(waitTimeout); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if line.MatchString(ts.ReadFile(args[0])) {
			return
		}
	}
	ts.Fatalf("%s has no such line in time: %s", args[0], args[1])
}

// printed asks the node at TRIREME_URL with the token: of two nodes that generated some, the
// cluster has those of the one that bootstrapped it.
func printed(ts *testscript.TestScript, _ bool, args []string) {
	if _, err := os.Stat(ts.MkAbs(args[0])); err != nil {
		return // this node was not asked
	}
	for _, m := range variableLine.FindAllStringSubmatch(ts.ReadFile(args[0]), -1) {
		if m[1] != args[1] {
			continue
		}
		before := ts.Getenv(m[1])
		ts.Setenv(m[1], m[2])
		if ts.Exec("trireme", "cluster", "status") != nil {
			ts.Setenv(m[1], before)
		}
	}
}

func shown(ts *testscript.TestScript, _ bool, args []string) {
	for deadline := time.Now().Add(waitTimeout); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		block, _ := pem.Decode([]byte(ts.ReadFile(args[1])))
		c, err := tls.Dial("tcp", args[0], &tls.Config{InsecureSkipVerify: true})
		if err != nil {
			continue
		}
		same := bytes.Equal(c.ConnectionState().PeerCertificates[0].Raw, block.Bytes)
		c.Close()
		if same {
			return
		}
	}
	ts.Fatalf("%s doesn't show the certificate of %s in time", args[0], args[1])
}

func shows(ts *testscript.TestScript, _ bool, args []string) {
	line, wanted := regexp.MustCompile("(?m)"+args[len(args)-1]), args[0] != "-none"
	for deadline := time.Now().Add(waitTimeout); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if ts.Exec("trireme", "cluster", "status") == nil && line.MatchString(ts.ReadFile("stdout")) == wanted {
			return
		}
	}
	ts.Fatalf("cluster status doesn't show that in time: %v", args)
}

// finds runs the doctor again and again: what it finds on a busy machine, and its exit code,
// may be worse than what the line is about.
func finds(ts *testscript.TestScript, _ bool, args []string) {
	line := regexp.MustCompile("(?m)" + args[0])
	for deadline := time.Now().Add(waitTimeout); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		_ = ts.Exec("trireme", append([]string{"doctor"}, args[1:]...)...)
		if line.MatchString(ts.ReadFile("stdout")) {
			return
		}
	}
	ts.Fatalf("the doctor doesn't find that in time: %v", args)
}

func gone(ts *testscript.TestScript, _ bool, args []string) {
	for _, text := range args {
		pid, err := strconv.Atoi(text)
		ts.Check(err)
		deadline := time.Now().Add(waitTimeout)
		for syscall.Kill(pid, 0) == nil && !zombie(pid) {
			if time.Now().After(deadline) {
				ts.Fatalf("process %d still runs in time", pid)
			}
			time.Sleep(5 * time.Millisecond)
		}
	}
}

// zombie reports whether a process has ended and nobody has asked how: its parent is
// gone, and whoever adopts orphans here may not care.
func zombie(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && strings.Contains(string(text), ") Z ")
}

var variableLine = regexp.MustCompile(`(?m)^([A-Z_]+)=(.*)$`)

// moves tries again, because on a busy machine a node may lose its leadership at once.
func moves(ts *testscript.TestScript, _ bool, args []string) {
	for deadline := time.Now().Add(waitTimeout); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if ts.Exec("trireme", "cluster", "transfer-leader", "--to", args[0]) != nil {
			continue
		}
		if ts.Exec("trireme", "cluster", "status") == nil && strings.Contains(ts.ReadFile("stdout"), "leader "+args[0]+",") {
			return
		}
	}
	ts.Fatalf("%s doesn't lead in time", args[0])
}

func stale(ts *testscript.TestScript, _ bool, args []string) {
	status := 0
	for deadline := time.Now().Add(waitTimeout); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		req, err := http.NewRequest("GET", args[0], nil)
		ts.Check(err)
		req.Header.Set("Authorization", "Bearer "+args[1])
		req.Header.Set("Svc-Consistency", "stale")
		resp, err := http.DefaultClient.Do(req)
		ts.Check(err)
		resp.Body.Close()
		if status == http.StatusOK && resp.StatusCode == http.StatusServiceUnavailable {
			return
		}
		if status = resp.StatusCode; status != http.StatusOK {
			ts.Fatalf("a stale read got %s", resp.Status)
		}
	}
	ts.Fatalf("stale reads still work in time")
}

func lists(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	for deadline := time.Now().Add(waitTimeout); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		req, err := http.NewRequest("GET", args[1]+"/cluster/nodes", nil)
		ts.Check(err)
		req.Header.Set("Authorization", "Bearer "+args[2])
		resp, err := http.DefaultClient.Do(req)
		ts.Check(err)
		text, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		ts.Check(err)
		if strings.Count(string(text), " 127.0.0.1:") == want {
			return
		}
	}
	ts.Fatalf("CLUSTER NODES does not name %d ports in time", want)
}

func client(ts *testscript.TestScript, _ bool, args []string) {
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Minute)
	defer cancel()
	output, err := clients.Redis(ctx, strings.Split(args[0], ","), args[1])
	fmt.Fprintf(ts.Stdout(), "%s", output)
	ts.Check(err)
}

func devClient(ts *testscript.TestScript, _ bool, args []string) {
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Minute)
	defer cancel()
	output, err := clients.MessagesDev(ctx, args[0])
	fmt.Fprintf(ts.Stdout(), "%s", output)
	ts.Check(err)
}

func exits(ts *testscript.TestScript, _ bool, args []string) {
	code := 0
	var exit *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
		code = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if fmt.Sprint(code) != args[0] {
		ts.Fatalf("%v: exit code %d, want %s", args[1:], code, args[0])
	}
}

func oneLine(ts *testscript.TestScript, _ bool, _ []string) {
	if text := ts.ReadFile("stderr"); strings.Count(text, "\n") != 1 || !strings.HasPrefix(text, "trireme: ") {
		ts.Fatalf("standard error is %q, want one line that begins with the program's name", text)
	}
}

func terminate(ts *testscript.TestScript, _ bool, _ []string) {
	all := ts.BackgroundCmds()
	ts.Check(all[len(all)-1].Process.Signal(syscall.SIGTERM))
}

// running reads a file, because testscript shows what a background command wrote only
// at its end: scripts start the server by sh with its output redirected.
func running(ts *testscript.TestScript, _ bool, args []string) {
	path := ts.MkAbs(args[0])
	for deadline := time.Now().Add(waitTimeout); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		text, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(text), "\nTRIREME_ADMIN_TOKEN=") && !strings.Contains(string(text), "An interrupt") {
			continue
		}
		for _, m := range variableLine.FindAllStringSubmatch(string(text), -1) {
			ts.Setenv(m[1], m[2])
		}
		return
	}
	text, _ := os.ReadFile(path)
	written, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "err*"))
	for _, name := range written {
		said, _ := os.ReadFile(name)
		ts.Logf("%s: %s", name, said)
	}
	ts.Fatalf("not running in time; it wrote %q", text)
}

func request(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 3 {
		ts.Fatalf("request METHOD URL TOKEN [BODY]")
	}
	req, err := http.NewRequest(args[0], args[1], strings.NewReader(strings.Join(args[3:], " ")))
	ts.Check(err)
	req.Header.Set("Authorization", "Bearer "+args[2])
	resp, err := (&http.Client{Timeout: waitTimeout}).Do(req)
	if neg && err != nil {
		return
	}
	ts.Check(err)
	defer resp.Body.Close()
	text, err := httputil.DumpResponse(resp, true)
	ts.Check(err)
	fmt.Fprintf(ts.Stdout(), "%s\n", text)
}

// held is the connection of the request that hold has begun.
type held struct {
	conn net.Conn
	last string
}

func hold(ts *testscript.TestScript, _ bool, args []string) {
	c, err := net.Dial("tcp", args[0])
	ts.Check(err)
	ts.Defer(func() { c.Close() })
	body := args[2]
	_, err = fmt.Fprintf(c, "POST / HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\nExpect: 100-continue\r\n\r\n",
		args[0], args[1], len(body))
	ts.Check(err)
	// The server says that it waits for the body: now the request is in flight.
	first := make([]byte, len("HTTP/1.1 100 Continue\r\n\r\n"))
	_, err = io.ReadFull(c, first)
	ts.Check(err)
	_, err = io.WriteString(c, body[:len(body)-1])
	ts.Check(err)
	*ts.Value(heldKey{}).(*held) = held{c, body[len(body)-1:]}
}

func release(ts *testscript.TestScript, _ bool, _ []string) {
	h := ts.Value(heldKey{}).(*held)
	_, err := io.WriteString(h.conn, h.last)
	ts.Check(err)
	resp, err := http.ReadResponse(bufio.NewReader(h.conn), nil)
	ts.Check(err)
	text, err := httputil.DumpResponse(resp, true)
	ts.Check(err)
	fmt.Fprintf(ts.Stdout(), "%s\n", text)
}

type heldKey struct{}

func refused(ts *testscript.TestScript, _ bool, args []string) {
	for deadline := time.Now().Add(waitTimeout); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		c, err := net.Dial("tcp", args[0])
		if errors.Is(err, syscall.ECONNREFUSED) {
			return
		}
		if err == nil {
			c.Close()
		}
	}
	ts.Fatalf("somebody still listens on %s in time", args[0])
}

// unready waits until /readyz answers 503.
func unready(ts *testscript.TestScript, _ bool, args []string) {
	for deadline := time.Now().Add(waitTimeout); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if resp, err := http.Get("http://" + args[0] + "/readyz"); err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusServiceUnavailable {
				return
			}
		}
	}
	ts.Fatalf("%s is still ready", args[0])
}

// mode checks the permissions of a file.
func mode(ts *testscript.TestScript, _ bool, args []string) {
	info, err := os.Stat(filepath.Clean(ts.MkAbs(args[1])))
	ts.Check(err)
	if got := fmt.Sprintf("%o", info.Mode().Perm()); got != args[0] {
		ts.Fatalf("%s has mode %s, want %s", args[1], got, args[0])
	}
}

// jsonLog checks the log of a node that nothing has gone wrong with.
func jsonLog(ts *testscript.TestScript, _ bool, args []string) {
	lines := 0
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		lines++
		var all map[string]any
		if err := json.Unmarshal([]byte(line), &all); err != nil {
			ts.Fatalf("%s: %v: %s", args[0], err, line)
		}
		for key := range all { // unordered: each by itself
			if strings.Count(line, strconv.Quote(key)+":") != 1 {
				ts.Fatalf("%s has the key %s twice: %s", args[0], key, line)
			}
		}
		if all["node"] != args[1] {
			ts.Fatalf("%s has a record of another node than %s: %s", args[0], args[1], line)
		}
		if all["level"] == "ERROR" {
			ts.Fatalf("%s has an error: %s", args[0], line)
		}
	}
	if lines == 0 {
		ts.Fatalf("%s is empty", args[0])
	}
}
