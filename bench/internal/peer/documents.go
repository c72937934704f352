package peer

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/trireme-dev/trireme/bench/internal/load"
)

// Document is a document of row 20.
type Document struct {
	Title string  `json:"title"`
	Body  string  `json:"body"`
	Price float64 `json:"price"`
}

// The documents of row 20: words of a title and of a body, and how many different words there are. Words are drawn by Zipf's
// law; a search looks for one of the first searchedWords, each as often as the others.
const (
	titleWords    = 8
	bodyWords     = 40
	vocabulary    = 20_000
	searchedWords = 2_000
)

// Documents draws count documents, the same for the same count.
func Documents(count int) []Document {
	r := rand.New(rand.NewPCG(20, 20))
	zipf := rand.NewZipf(r, 1.1, 4, vocabulary-1)
	text := func(words int) string {
		var b strings.Builder
		for range words {
			fmt.Fprintf(&b, "w%012d ", zipf.Uint64())
		}
		return b.String()
	}
	list := make([]Document, count)
	for i := range list {
		list[i] = Document{text(titleWords), text(bodyWords), float64(r.IntN(1000))}
	}
	return list
}

// searchIndex is the name of the index of row 20.
const searchIndex = "documents"

// IndexDocuments empties the node, makes a search index, stores the documents as hashes, and waits until all of them are
// found. It returns how many a second that was.
func (n *Node) IndexDocuments(ctx context.Context, list []Document) (float64, error) {
	c, err := n.dial()
	if err != nil {
		return 0, err
	}
	defer c.Close()
	for _, line := range []string{
		"FLUSHALL", "SEARCH.DROP " + searchIndex, "SEARCH.CREATE " + searchIndex + " ON HASH PREFIX 1 doc: SCHEMA title TEXT body TEXT price F64 FAST",
	} {
		if _, err := c.do(strings.Fields(line)...); err != nil {
			return 0, fmt.Errorf("%.20s: %w", line, err)
		}
	}
	begin := time.Now()
	err = c.fill(ctx, len(list), func(i int) []string {
		d := &list[i]
		return []string{"HSET", "doc:" + strconv.Itoa(i), "title", d.Title, "body", d.Body, "price", strconv.FormatFloat(d.Price, 'g', -1, 64)}
	}, "3")
	if err != nil {
		return 0, err
	}
	if got, err := c.do("SEARCH.WAITINDEXING", searchIndex); err != nil || got != "1" {
		return 0, fmt.Errorf("SEARCH.WAITINDEXING: %q, %w", got, errors.Join(err, ctx.Err()))
	}
	return float64(len(list)) / time.Since(begin).Seconds(), nil
}

// Search looks for a word in titles, and wants the ids of the ten best documents.
func Search() load.Spec {
	return load.Spec{
		Method: "POST", Bearer: token, Targets: []string{"/"}, Keys: searchedWords,
		Body:  `["SEARCH.QUERY","` + searchIndex + `","{\"title\":{\"$eq\":\"w{key}\"}}","LIMIT","10","NOCONTENT"]`,
		Check: load.Check{Prefix: `{"result":[`},
	}
}

// Bleve is an index of bleve on the disk, which the program built from bench/bleve makes and searches.
type Bleve struct {
	bin, dir, file string
}

// NewBleve writes the documents to a file, from which they are indexed.
func (en *Env) NewBleve(list []Document) (*Bleve, error) {
	bin, err := program(en.Bleve)
	if err != nil {
		return nil, err
	}
	dir, err := en.dir("bleve")
	if err != nil {
		return nil, err
	}
	b := &Bleve{bin: bin, dir: dir, file: filepath.Join(dir, "documents")}
	f, err := os.Create(b.file)
	if err != nil {
		return nil, err
	}
	out := bufio.NewWriter(f)
	lines := json.NewEncoder(out)
	for i := range list {
		if err := lines.Encode(&list[i]); err != nil {
			return nil, errors.Join(err, f.Close())
		}
	}
	return b, errors.Join(out.Flush(), f.Close())
}

// Index makes the index anew and returns how many documents a second it took in.
func (b *Bleve) Index(ctx context.Context) (float64, error) {
	return b.run(ctx, "index", "-documents", b.file)
}

// Search looks for words for a while, from parallel goroutines, and returns how many searches a second were made.
func (b *Bleve) Search(ctx context.Context, parallel int, length time.Duration) (float64, error) {
	return b.run(ctx, "search", "-words", strconv.Itoa(searchedWords), "-parallel", strconv.Itoa(parallel), "-for", length.String())
}

func (b *Bleve) run(ctx context.Context, mode string, args ...string) (float64, error) {
	out, err := exec.CommandContext(ctx, b.bin, append([]string{mode, "-dir", filepath.Join(b.dir, "index")}, args...)...).CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("bleve: %w: %.300s", err, out)
	}
	return strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
}

// Stop removes the index.
func (b *Bleve) Stop() error { return os.RemoveAll(b.dir) }
