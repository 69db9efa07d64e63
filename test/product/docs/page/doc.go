// Package page reads the Markdown of the documentation: blocks of commands with directives for the test that runs them,
// files to be saved by the reader, links, headings and prose.
//
// A block is run if its info string is sh (a shell's input) or console (lines that begin with "$ " are input, the others
// are output). An HTML comment on the line before the block directs the test:
//
//	<!-- run: exit 3 -->                the exit code of the last command
//	<!-- run: until "TEXT" -->          the last command does not end: it is interrupted once it has printed TEXT
//	<!-- run: view "TEXT" -->           commands open an interactive view: they get a terminal, and q once TEXT is there
//	<!-- run: not here: REASON -->      no test can run it
//	<!-- run: as written with the archives of make snapshot -->
//	                                    downloads of a release come from dist
//	<!-- file: NAME -->                 of any other block: commands find it as this file
//	<!-- output of: ARGUMENTS -->       hack/explaindoc.sh writes the block, or, for a file in examples, a test of
//	                                    internal/cli; its first line is run
package page
