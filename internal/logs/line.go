package logs

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"time"
	"unicode/utf8"
)

const (
	chunkSize = 64 << 10
	// maxLine is where a line is split: memory is bounded whatever a container writes. A multiple of chunkSize.
	maxLine = 1 << 20
)

// Line is a line of a log, or a part of a long one. Its text is valid until the next one is read.
type Line struct {
	Text      []byte // without its newline
	Timestamp string // as the server wrote it, "" for none
	Time      time.Time
	First     bool // of the parts of its line
	Last      bool

	broken bool // what came after it did not arrive: the log ended without a newline
}

// lineReader reads the lines of a log.
type lineReader struct {
	in         *bufio.Reader
	timestamps bool // each line begins with one

	buffer []byte
	held   []byte // of a rune that a split would cut in two
	next   Line
}

func newLineReader(in io.Reader, timestamps bool) *lineReader {
	return &lineReader{in: bufio.NewReaderSize(in, chunkSize), timestamps: timestamps, next: Line{First: true}}
}

// read returns the next line. With an error there is none, but for the last one, which is broken; then comes the error
// again, io.EOF for the end of the log.
func (r *lineReader) read() (Line, error) {
	line := r.next
	text, err := r.fill()
	switch {
	case err == nil:
		line.Last = true
	case errors.Is(err, bufio.ErrBufferFull):
		whole := wholeRunes(text)
		r.held = append(r.held[:0], text[whole:]...)
		text = text[:whole]
	case len(text) == 0 && line.First:
		return Line{}, err
	default:
		line.Last, line.broken = true, true
	}
	if line.First && r.timestamps {
		line.Timestamp, line.Time, text = cutTimestamp(text)
	}
	line.Text = text
	r.next = Line{First: line.Last, Timestamp: line.Timestamp, Time: line.Time}
	return line, nil
}

// fill reads up to a newline, or as much as a line may hold (bufio.ErrBufferFull), or up to another error.
func (r *lineReader) fill() ([]byte, error) {
	r.buffer = append(r.buffer[:0], r.held...)
	r.held = r.held[:0]
	for read := 0; read < maxLine; {
		chunk, err := r.in.ReadSlice('\n')
		r.buffer = append(r.buffer, chunk...)
		read += len(chunk)
		if err == nil {
			text := r.buffer[:len(r.buffer)-1]
			return bytes.TrimSuffix(text, []byte{'\r'}), nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return r.buffer, err
		}
	}
	return r.buffer, bufio.ErrBufferFull
}

// wholeRunes is the length of text without a rune that is cut off at its end.
func wholeRunes(text []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if i := len(text) - n; utf8.RuneStart(text[i]) {
			if !utf8.FullRune(text[i:]) {
				return i
			}
			break
		}
	}
	return len(text)
}

// cutTimestamp takes the timestamp from the front of a line. A line that has none, as when the kubelet reports an
// error in place of a log, stays as it is.
func cutTimestamp(text []byte) (string, time.Time, []byte) {
	at, rest, _ := bytes.Cut(text, []byte{' '})
	if len(at) > len("2006-01-02T15:04:05.000000000+00:00") {
		return "", time.Time{}, text
	}
	t, err := time.Parse(time.RFC3339Nano, string(at))
	if err != nil {
		return "", time.Time{}, text
	}
	return string(at), t, rest
}
