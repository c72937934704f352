// Package growth measures how the time of a parser grows with the length of its input.
//
// Each family of inputs is of one hostile kind. Every input is four times as long as the
// one before and must take about four times as long: a parser whose time grows with the
// square of its input is a way to stop a node. Tests, fuzz targets and the acceptance run
// `parsers` use it.
package growth
