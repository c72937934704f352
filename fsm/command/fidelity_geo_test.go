package command_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/trireme-dev/trireme/fsm/command/scripttest"
)

// TestFidelityOfSortOrder does the same for SORT by texts that are equal, with and without a limit.
func TestFidelityOfSortOrder(t *testing.T) {
	r, ours := startRedis(t), newReplica(t)
	random := rand.New(rand.NewPCG(2, 8))
	both := func(line string) {
		t.Helper()
		s := stepOf(inWords(line))
		if we, they := scripttest.Print(ours.run(scripttest.Start, s)), scripttest.Print(r.do(s.Argv...)); we != they {
			t.Errorf("%s\nRedis %s:\n%s\nwe:\n%s", line, r.version, they, we)
		}
	}
	for i := range 300 {
		both(fmt.Sprintf("SET w_%d %d", i, random.IntN(4)))
	}
	for _, n := range []int{3, 7, 8, 30, 41, 300} {
		both("DEL l")
		for _, i := range random.Perm(n) {
			both(fmt.Sprintf("RPUSH l %d", i))
		}
		for _, order := range []string{"", " DESC"} {
			for _, by := range []string{"", " BY w_*", " BY w_* ALPHA", " BY none_* ALPHA", " ALPHA"} {
				both("SORT l" + by + order)
				for range 12 {
					both(fmt.Sprintf("SORT l%s%s LIMIT %d %d", by, order, random.IntN(n+2)-1, random.IntN(n+2)-1))
				}
			}
		}
	}
}

// TestFidelityOfGeoOrder compares which members searches find, and in which order, where many are equally far: with and without
// a count, ANY and an order, and stored.
func TestFidelityOfGeoOrder(t *testing.T) {
	r, ours := startRedis(t), newReplica(t)
	random := rand.New(rand.NewPCG(11, 3))
	both := func(line string) {
		t.Helper()
		s := stepOf(inWords(line))
		if we, they := s.Shown(ours.run(scripttest.Start, s)), s.Shown(r.do(s.Argv...)); we != they {
			t.Errorf("%s\nRedis %s:\n%s\nwe:\n%s", line, r.version, they, we)
		}
	}
	for round := range 60 {
		both("DEL g")
		places := 1 + random.IntN(6)
		for i := range []int{3, 6, 7, 8, 20, 39, 41, 60, 100, 300}[random.IntN(10)] {
			at := random.IntN(places)
			both(fmt.Sprintf("GEOADD g %d.5 %d m%d", at%3, at/3, i))
		}
		for _, area := range []string{"FROMLONLAT 1 0.5 BYRADIUS 400 km", "FROMMEMBER m0 BYBOX 300 300 km"} {
			for _, order := range []string{"", " ASC", " DESC"} {
				both("GEOSEARCH g " + area + order)
				for _, count := range []int{1, 2, 5, 7, 20, 50, 1000} {
					both(fmt.Sprintf("GEOSEARCH g %s%s COUNT %d", area, order, count))
					both(fmt.Sprintf("GEOSEARCH g %s%s COUNT %d ANY", area, order, count))
				}
			}
			both(fmt.Sprintf("GEOSEARCHSTORE d g %s COUNT %d", area, 1+random.IntN(9)))
			both("ZRANGE d 0 -1 WITHSCORES")
			both(fmt.Sprintf("GEOSEARCHSTORE d g %s DESC COUNT %d ANY STOREDIST", area, 1+random.IntN(9)))
			both("ZRANGE d 0 -1 WITHSCORES")
		}
		both(fmt.Sprintf("GEORADIUS g 1 0.5 400 km COUNT %d STORE d", 1+round%9))
		both("ZRANGE d 0 -1 WITHSCORES")
		both(fmt.Sprintf("GEORADIUSBYMEMBER g m0 400 km DESC COUNT %d", 1+round%9))
	}
}
