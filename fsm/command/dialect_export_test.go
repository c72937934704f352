package command

import "reflect"

// DialectDifferences are the names of what the dialects differ in.
func DialectDifferences() (names []string) {
	for i := range reflect.TypeFor[dialect]().NumField() {
		names = append(names, reflect.TypeFor[dialect]().Field(i).Name)
	}
	return names
}
