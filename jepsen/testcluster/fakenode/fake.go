package fakenode

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/trireme-dev/trireme/internal/failpoint"
)

// Fault names what a fake node does wrong.
type Fault string

const (
	// None nodes do nothing wrong.
	None Fault = "none"
	// StaleReads answers reads from what the node itself saw last.
	StaleReads Fault = "stale-reads"
	// LostWrites acknowledges one write in fifty without storing it.
	LostWrites Fault = "lost-writes"
	// DoubleAdds applies one addition in fifty twice.
	DoubleAdds Fault = "double-adds"
	// WrongOutcome stores one write in fifty and calls it not applied.
	WrongOutcome Fault = "wrong-outcome"
	// Quits makes a node end by itself after a hundred requests.
	Quits Fault = "quits"
)

const variable = "LABTEST_LIE"

// Env is the environment that makes the test binary a node.
func Env(l Fault) []string { return []string{variable + "=" + string(l)} }

// Main runs the tests, or a node if the harness started this binary as one. TestMain calls it. It
// calls after when the tests have run.
func Main(m *testing.M, after ...func()) {
	fault, set := os.LookupEnv(variable)
	if !set {
		code := m.Run()
		for _, f := range after {
			f()
		}
		os.Exit(code)
	}
	if err := serve(Fault(fault), os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// serve is the node's main function.
func serve(fault Fault, args []string) error {
	flags := flag.NewFlagSet("serve", flag.ContinueOnError)
	id := flags.String("node-id", "", "")
	dir := flags.String("data-dir", "", "")
	addr := flags.String("http", "", "")
	for _, unused := range []string{"cluster", "gossip", "initial-cluster", "heartbeat", "log-level"} {
		flags.String(unused, "", "")
	}
	if err := flags.Parse(args); err != nil {
		return err
	}
	n := &node{id: *id, fault: fault, path: filepath.Join(filepath.Dir(*dir), "shared.json"), seen: map[string]string{}}
	server := &http.Server{Addr: *addr, Handler: n.routes()}
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGTERM)
	go func() {
		<-ended
		endAtFailpoint()
		server.Close()
	}()
	fmt.Println("fake node", *id, "running at", *addr)
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// node is one fake process.
type node struct {
	id    string
	fault Fault
	path  string

	mu       sync.Mutex
	requests int
	seen     map[string]string
}

func (n *node) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/readyz", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("/admin/cluster", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"leader":"n1","term":1}`)
	})
	mux.HandleFunc("/admin/cluster/transfer-leader", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{}`)
	})
	mux.HandleFunc("/", n.command)
	return mux
}

// endAtFailpoint ends the process if a failpoint is armed to do so, whichever it is.
func endAtFailpoint() {
	if spec, err := os.ReadFile(os.Getenv(failpoint.EnvFile)); err == nil && strings.HasSuffix(string(spec), "exit") {
		os.Exit(failpoint.ExitCode)
	}
}

// command answers one command, or a transaction.
func (n *node) command(w http.ResponseWriter, r *http.Request) {
	several := r.URL.Path == "/multi-exec"
	commands, err := decode(r, several)
	if err != nil {
		refuse(w, "not-applied", fmt.Sprint("bad body ", err))
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.requests++
	if n.fault == Quits && n.requests > 100 {
		fmt.Println("quitting, as told")
		os.Exit(7)
	}
	endAtFailpoint()
	results, token, err := n.execute(commands, r.Header.Get("Svc-Request-Id"))
	if err != nil {
		refuse(w, "unknown", err.Error())
		return
	}
	if n.fault == WrongOutcome && writes(commands) && n.unlucky() {
		refuse(w, "not-applied", "a fault")
		return
	}
	w.Header().Set("Svc-Sync-Token", token)
	if !several {
		json.NewEncoder(w).Encode(map[string]any{"result": results[0]})
		return
	}
	var rows []map[string]any
	for _, result := range results {
		rows = append(rows, map[string]any{"result": result})
	}
	json.NewEncoder(w).Encode(rows)
}

// decode reads the commands of a request.
func decode(r *http.Request, several bool) (commands [][]string, err error) {
	if several {
		return commands, json.NewDecoder(r.Body).Decode(&commands)
	}
	commands = make([][]string, 1)
	if err := json.NewDecoder(r.Body).Decode(&commands[0]); err != nil {
		return nil, err
	}
	if len(commands[0]) < 2 {
		return nil, errors.New("no key")
	}
	return commands, nil
}

// readers are the commands that change nothing.
var readers = []string{"GET", "LRANGE", "SMEMBERS", "MGET", "PEXPIRETIME", "TIME"}

func writes(commands [][]string) bool {
	return slices.ContainsFunc(commands, func(argv []string) bool { return !slices.Contains(readers, argv[0]) })
}

func (n *node) unlucky() bool { return n.requests%50 == 0 }

func refuse(w http.ResponseWriter, outcome, text string) {
	w.Header().Set("Svc-Outcome", outcome)
	w.WriteHeader(http.StatusServiceUnavailable)
	json.NewEncoder(w).Encode(map[string]string{"error": text})
}

// execute runs commands on the shared state, under its lock, and tells their place. What
// was sent under a request id that was seen before is answered as then.
func (n *node) execute(commands [][]string, request string) (results []any, token string, err error) {
	lock, err := os.OpenFile(n.path+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, "", err
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return nil, "", err
	}
	state, err := load(n.path)
	if err != nil {
		return nil, "", err
	}
	if old, again := state[answered+request]; again && request != "" {
		return []any{json.RawMessage(old)}, "", nil
	}
	changes := writes(commands)
	index, _ := strconv.ParseInt(state[lastIndex], 10, 64)
	token = "fake." + strconv.FormatInt(index, 36)
	if changes {
		state[lastIndex] = strconv.FormatInt(index+1, 10)
		token = "fake." + strconv.FormatInt(index+1, 36) + ".0"
	}
	for _, argv := range commands {
		results = append(results, n.perform(state, argv))
	}
	if text, err := json.Marshal(results[0]); err == nil && request != "" {
		state[answered+request] = string(text)
	}
	if !changes || n.fault == LostWrites && n.unlucky() {
		return results, token, nil
	}
	return results, token, store(n.path, state)
}

// lastIndex is the key of the number of changes so far.
const lastIndex = "\x00index"

// answered begins the keys of replies to request ids.
const answered = "\x00answer "

// perform runs one command as honestly as the node is.
func (n *node) perform(state map[string]string, argv []string) any {
	reads := slices.Contains(readers, argv[0]) && len(argv) > 1
	if reads && n.fault == StaleReads && !n.unlucky() {
		if old, known := n.seen[argv[1]]; known {
			return apply(map[string]string{argv[1]: old}, argv)
		}
	}
	result := apply(state, argv)
	if n.fault == DoubleAdds && strings.HasPrefix(argv[0], "INCR") && n.unlucky() {
		apply(state, argv)
	}
	if len(argv) > 1 {
		n.seen[argv[1]] = state[argv[1]]
	}
	return result
}

func load(path string) (map[string]string, error) {
	state := map[string]string{}
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return state, nil
	}
	if err != nil {
		return nil, err
	}
	return state, json.Unmarshal(text, &state)
}

// store replaces the file at once, so that a kill leaves the old or the new one.
func store(path string, state map[string]string) error {
	text, err := json.Marshal(state)
	if err != nil {
		return err
	}
	if err := os.WriteFile(path+".new", text, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}
