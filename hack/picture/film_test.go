package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

func drawn(t *testing.T, output string) string {
	t.Helper()
	var svg bytes.Buffer
	assert.NoError(t, draw(&svg, strings.NewReader(output), "the <title>"))
	for decoder := xml.NewDecoder(bytes.NewReader(svg.Bytes())); ; {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			return svg.String()
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

// Each frame is shown for its time. Equal successive frames are merged, and a line that several frames share is drawn
// once.
// Requirements: DEM-04
func TestFilmSharesLines(t *testing.T) {
	film := drawn(t, "\f1 \nsame\nfirst\n\f1 \nsame\nfirst\n\f2 a key\nsame\n\x1b[31mlast\x1b[0m\n")
	for text, want := range map[string]int{
		"same": 1, "first": 1, "last": 1, ">a key<": 1, "translate(": 2, "film 4.0s": 1, "50.000%{": 1, "prefers-reduced-motion": 1, ".film{transform:translateX(-0px);": 1, "the &lt;title&gt;": 2, "<script": 0,
	} {
		assert.Equal(t, strings.Count(film, text), want, text, film)
	}
	if still := drawn(t, "one\ntwo\n"); strings.Contains(still, "film") || strings.Count(still, "<text") != 3 {
		t.Errorf("one picture: %s", still)
	}
	if err := draw(io.Discard, strings.NewReader("\fx\n"), ""); err == nil {
		t.Error("a frame without seconds was drawn")
	}
}

// A renderer may drop spaces at the ends of a text, and collapse others: texts have none at their ends, xml:space keeps the
// others, and backgrounds cover all of them.
func TestTextKeepsItsPlaceWithoutSpaces(t *testing.T) {
	svg := drawn(t, "ab\x1b[41m  c d \x1b[0m.\n")
	for _, want := range []string{`xml:space="preserve"`, `width="46.8"`, `<text x="47.2" y="56.5">c` + noBreak + `d</text>`} {
		assert.Contains(t, svg, want)
	}
}

// The recording at the top of README is small, moves without a script, and stands still for readers who prefer reduced
// motion (issue 19).
// Requirements: DEM-04
func TestRecordingSuitsREADME(t *testing.T) {
	svg, err := os.ReadFile("../../docs/images/demo.svg")
	assert.NoError(t, err)
	if len(svg) > 500_000 || bytes.Contains(svg, []byte("<script")) || !bytes.Contains(svg, []byte("prefers-reduced-motion")) {
		t.Errorf("%d bytes, %.300s", len(svg), svg)
	}
	readme, err := os.ReadFile("../../README.md")
	assert.NoError(t, err)
	head, _, _ := bytes.Cut(readme, []byte("\n## "))
	if !bytes.Contains(head, []byte("(docs/images/demo.svg)")) {
		t.Errorf("README.md begins with\n%s", head)
	}
}
