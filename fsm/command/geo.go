package command

import "slices"

// geoRows is the Geo family: sorted sets whose scores are places. The handlers stand in
// the files geo_*.go.
func geoRows() []Command {
	return slices.Concat(geoPlaces(), geoSearches(), geoRadiusRows())
}

// Words that several rows share.
const (
	geoNear = "O(n + log m), where n is the number of members in and around the area and m that of the set"
	geoUnit = "M | KM | FT | MI"
	geoWith = " [WITHCOORD] [WITHDIST] [WITHHASH]"
)

// geoPlaces are the rows of single places.
func geoPlaces() []Command {
	const (
		read = ReadOnly | ReadOnlyUser
		grow = Write | DenyOOM
	)
	return []Command{
		{Name: "geoadd", Arity: -5, Flags: grow, Keys: firstKey.with(rwUpdate), Cost: costConstant, Doc: Doc{Version: "3.2.0", Complexity: "O(log n) for each member",
			Syntax: "GEOADD key [NX | XX] [CH] longitude latitude member [longitude latitude member ...]", Summary: "Adds places to a sorted set or moves them, and returns how many are new.",
			Changes: []Change{{"6.2.0", "Takes CH, NX and XX."}}}, Run: geoAdd},
		{Name: "geodist", Arity: -4, Flags: read, Keys: firstKey.with(roAccess), Cost: costConstant, Doc: Doc{Version: "3.2.0", Complexity: "O(log n)",
			Syntax: "GEODIST key member1 member2 [" + geoUnit + "]", Summary: "Returns the distance between two members."}, Run: geoDist},
		{Name: "geohash", Arity: -2, Flags: read, Keys: firstKey.with(roAccess), Cost: costConstant, Doc: Doc{Version: "3.2.0", Complexity: "O(log n) for each member",
			Syntax: "GEOHASH key [member [member ...]]", Summary: "Returns the standard geohashes of members, null for each that is missing."}, Run: geoHash},
		{Name: "geopos", Arity: -2, Flags: read, Keys: firstKey.with(roAccess), Cost: costConstant, Doc: Doc{Version: "3.2.0", Complexity: "O(log n) for each member",
			Syntax: "GEOPOS key [member [member ...]]", Summary: "Returns longitudes and latitudes of members, null for each that is missing."}, Run: geoPos},
	}
}

// geoSearches are the rows that find places.
func geoSearches() []Command {
	const (
		read = ReadOnly | ReadOnlyUser
		grow = Write | DenyOOM
		area = "FROMMEMBER member | FROMLONLAT longitude latitude BYRADIUS radius " + geoUnit + " | BYBOX width height " + geoUnit
	)
	return []Command{
		{Name: "geosearch", Arity: -7, Flags: read, Keys: firstKey.with(roAccess), Cost: costCounted, Doc: Doc{Version: "6.2.0", Complexity: geoNear,
			Syntax: "GEOSEARCH key " + area + " [ASC | DESC] [COUNT count [ANY]]" + geoWith, Summary: "Returns the members within a circle or a box.",
			Changes: []Change{takesAnyCase}}, Run: geoSearch},
		{Name: "geosearchstore", Arity: -8, Flags: grow | ReportsMiss, Keys: twoKeys.uses(one(owUpdate, 1), one(roAccess, 2)), Cost: costValues, Work: geoStoreWork, Counts: answered, Doc: Doc{Version: "6.2.0", Complexity: geoNear,
			Syntax: "GEOSEARCHSTORE destination source " + area + " [ASC | DESC] [COUNT count [ANY]] [STOREDIST]", Summary: "Stores the members within a circle or a box, or their distances.",
			Changes: []Change{takesAnyCase}}, Run: geoSearchStore},
	}
}

// geoRadiusRows are the older rows that find places.
func geoRadiusRows() []Command {
	const (
		read    = ReadOnly | ReadOnlyUser
		grow    = Write | DenyOOM
		options = " [COUNT count [ANY]] [ASC | DESC]"
		store   = " [STORE key | STOREDIST key]"
	)
	return []Command{
		{Name: "georadius", Arity: -6, Flags: grow | MayRead | ReportsMiss, Keys: radiusKeys(6).uses(one(roAccess, 1), after(owUpdate, "STORE", 6), after(owUpdate, "STOREDIST", 6)), Cost: costCounted, Work: radiusWork, Counts: answered, Reads: storesNothing(6), Doc: Doc{Version: "3.2.0", Complexity: geoNear,
			Syntax: "GEORADIUS key longitude latitude radius " + geoUnit + geoWith + options + store, Summary: "Returns the members within a distance of a place, or stores them.",
			Changes: []Change{{"6.2.0", "COUNT takes ANY."}, takesAnyCase}}, Run: geoRadius},
		{Name: "georadius_ro", Arity: -6, Flags: read, Keys: firstKey.with(roAccess), Cost: costConstant, Doc: Doc{Version: "3.2.10", Complexity: geoNear,
			Syntax: "GEORADIUS_RO key longitude latitude radius " + geoUnit + geoWith + options, Summary: "Returns the members within a distance of a place.",
			Changes: []Change{{"6.2.0", "COUNT takes ANY."}}}, Run: geoRadiusRO},
		{Name: "georadiusbymember", Arity: -5, Flags: grow | MayRead | ReportsMiss, Keys: radiusKeys(5).uses(one(roAccess, 1), after(owUpdate, "STORE", 5), after(owUpdate, "STOREDIST", 5)), Cost: costCounted, Work: radiusWork, Counts: answered, Reads: storesNothing(5), Doc: Doc{Version: "3.2.0", Complexity: geoNear,
			Syntax: "GEORADIUSBYMEMBER key member radius " + geoUnit + geoWith + options + store, Summary: "Returns the members within a distance of a member, or stores them.",
			Changes: []Change{takesAnyCase}}, Run: geoRadiusByMember},
		{Name: "georadiusbymember_ro", Arity: -5, Flags: read, Keys: firstKey.with(roAccess), Cost: costConstant, Doc: Doc{Version: "3.2.10", Complexity: geoNear,
			Syntax: "GEORADIUSBYMEMBER_RO key member radius " + geoUnit + geoWith + options, Summary: "Returns the members within a distance of a member."}, Run: geoRadiusByMemberRO},
	}
}

// radiusStores reports whether a word of GEORADIUS names a destination behind it.
func radiusStores(word []byte) bool { return EqualFold(word, "STORE") || EqualFold(word, "STOREDIST") }

// radiusKeys are the source and the destination that counts, the last; options begin at
// a position.
func radiusKeys(options int) keyPlaces {
	return keyPlaces{First: 1, Last: 1, Step: 1, Find: func(argv [][]byte) []int {
		keys := []int{1}
		for i := options; i+1 < len(argv); i++ {
			if radiusStores(argv[i]) {
				i++
				keys = append(keys[:1], i)
			}
		}
		return keys
	}}
}

// storesNothing reports whether words with options from a position on store
// nothing.
func storesNothing(options int) func(argv [][]byte) bool {
	return func(argv [][]byte) bool {
		for _, word := range argv[min(options, len(argv)):] {
			if radiusStores(word) {
				return false
			}
		}
		return true
	}
}
