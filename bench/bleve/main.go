// Command bleve measures bleve as a library, the peer of benchmark row 20: it indexes documents on the disk, or looks for
// words in their titles, and prints how many a second. It is a module of its own so that bleve's dependencies never meet
// those of the product.
//
//	bleve index -dir DIR -documents FILE
//	bleve search -dir DIR -words 2000 -parallel 4 -for 3s
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/blevesearch/bleve/v2"
	_ "github.com/blevesearch/bleve/v2/analysis/lang/en"
	"github.com/blevesearch/bleve/v2/mapping"
)

func main() {
	modes := map[string]func([]string) (float64, error){"index": index, "search": search}
	if len(os.Args) < 2 || modes[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "bleve: index or search is wanted")
		os.Exit(2)
	}
	perSecond, err := modes[os.Args[1]](os.Args[2:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "bleve:", err)
		os.Exit(1)
	}
	fmt.Printf("%.1f\n", perSecond)
}

// document is a line of the file.
type document struct {
	Title string  `json:"title"`
	Body  string  `json:"body"`
	Price float64 `json:"price"`
}

// fields returns the mapping of the documents' fields, with the English stemmer and without copies of their text.
func fields() mapping.IndexMapping {
	text := bleve.NewTextFieldMapping()
	text.Analyzer, text.Store, text.IncludeInAll = "en", false, false
	number := bleve.NewNumericFieldMapping()
	number.Store, number.IncludeInAll = false, false
	all := bleve.NewDocumentStaticMapping()
	all.AddFieldMappingsAt("title", text)
	all.AddFieldMappingsAt("body", text)
	all.AddFieldMappingsAt("price", number)
	m := bleve.NewIndexMapping()
	m.DefaultMapping = all
	return m
}

// documentsAtATime is the size of a batch.
const documentsAtATime = 100

// index makes an index in a folder, in place of what is there, and returns documents a second.
func index(args []string) (float64, error) {
	f := flag.NewFlagSet("index", flag.ContinueOnError)
	dir := f.String("dir", "", "folder of the index")
	file := f.String("documents", "", "documents, each a JSON object on a line")
	if err := f.Parse(args); err != nil {
		return 0, err
	}
	list, err := read(*file)
	if err != nil {
		return 0, err
	}
	if err := os.RemoveAll(*dir); err != nil {
		return 0, err
	}
	x, err := bleve.New(*dir, fields())
	if err != nil {
		return 0, err
	}
	defer x.Close()
	begin := time.Now()
	for done := 0; done < len(list); done += documentsAtATime {
		batch := x.NewBatch()
		for i, d := range list[done:min(done+documentsAtATime, len(list))] {
			if err := batch.Index("doc:"+strconv.Itoa(done+i), d); err != nil {
				return 0, err
			}
		}
		if err := x.Batch(batch); err != nil {
			return 0, err
		}
	}
	if n, err := x.DocCount(); err != nil || n != uint64(len(list)) {
		return 0, fmt.Errorf("%d of %d documents are indexed: %w", n, len(list), err)
	}
	return float64(len(list)) / time.Since(begin).Seconds(), nil
}

func read(path string) (list []document, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); ; {
		if !lines.Scan() {
			return list, lines.Err()
		}
		var d document
		if err := json.Unmarshal(lines.Bytes(), &d); err != nil {
			return nil, err
		}
		list = append(list, d)
	}
}

// search looks for words in titles for a while, after a tenth of it that does not count, and returns searches a second.
func search(args []string) (float64, error) {
	f := flag.NewFlagSet("search", flag.ContinueOnError)
	dir := f.String("dir", "", "folder of the index")
	words := f.Uint64("words", 2000, "words that are looked for: w and a number below this")
	parallel := f.Int("parallel", 4, "goroutines")
	length := f.Duration("for", 3*time.Second, "how long")
	if err := f.Parse(args); err != nil {
		return 0, err
	}
	x, err := bleve.OpenUsing(*dir, map[string]any{"read_only": true})
	if err != nil {
		return 0, err
	}
	defer x.Close()
	var counted, found atomic.Int64
	failed := make(chan error, *parallel)
	from := time.Now().Add(*length / 10)
	var all sync.WaitGroup
	for range *parallel {
		all.Go(func() {
			for began := time.Now(); began.Sub(from) < *length; began = time.Now() {
				q := bleve.NewMatchQuery(fmt.Sprintf("w%012d", rand.Uint64N(*words)))
				q.SetField("title")
				got, err := x.Search(bleve.NewSearchRequestOptions(q, 10, 0, false))
				if err != nil {
					failed <- err
					return
				}
				found.Add(int64(len(got.Hits)))
				if !began.Before(from) {
					counted.Add(1)
				}
			}
		})
	}
	all.Wait()
	took := time.Since(from).Seconds()
	select {
	case err := <-failed:
		return 0, err
	default:
	}
	if found.Load() == 0 {
		return 0, fmt.Errorf("nothing was found")
	}
	return float64(counted.Load()) / took, nil
}
