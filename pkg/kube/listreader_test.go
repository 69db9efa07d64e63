package kube_test

import (
	"bufio"
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// answerOf returns an answer of the API server with this object.
func answerOf(object []byte) []byte {
	unknown := protowire.AppendTag([]byte("k8s\x00"), 1, protowire.BytesType)
	unknown = protowire.AppendString(unknown, "type")
	unknown = protowire.AppendTag(unknown, 2, protowire.BytesType)
	return protowire.AppendBytes(unknown, object)
}

func fieldsOfAnswer(answer []byte) (all []string, err error) {
	err = kube.EachFieldOfAnswer(bufio.NewReaderSize(bytes.NewReader(answer), 16), func(number protowire.Number, value []byte) error {
		all = append(all, fmt.Sprintf("%d %s", number, value))
		return nil
	})
	return all, err
}

// A field may be longer than the buffer of the reader; numbers are skipped.
// Requirements: POL-06
func TestFieldsOfAnAnswerAreReadOneByOne(t *testing.T) {
	long := strings.Repeat("x", 1000)
	var object []byte
	add := func(number protowire.Number, text string) {
		object = protowire.AppendString(protowire.AppendTag(object, number, protowire.BytesType), text)
	}
	add(1, "meta")
	object = protowire.AppendVarint(protowire.AppendTag(object, 3, protowire.VarintType), 1<<40)
	object = protowire.AppendFixed32(protowire.AppendTag(object, 4, protowire.Fixed32Type), 7)
	object = protowire.AppendFixed64(protowire.AppendTag(object, 5, protowire.Fixed64Type), 7)
	add(2, long)
	add(2, "")
	add(2, "last")
	whole := answerOf(object)
	got, err := fieldsOfAnswer(whole)
	if want := []string{"1 meta", "2 " + long, "2 ", "2 last"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v", got, err)
	}
	const empty = len("k8s\x00") + 2 + len("type") // An answer may end after its type, without an object.
	for size := range whole {
		if _, err := fieldsOfAnswer(whole[:size]); (err == nil) != (size == empty || size == len("k8s\x00")) {
			t.Errorf("%d of %d bytes: %v", size, len(whole), err)
		}
	}
}

// Requirements: POL-06
func TestBrokenAnswersAreErrors(t *testing.T) {
	tag := func(number protowire.Number, kind protowire.Type) []byte {
		return protowire.AppendTag(nil, number, kind)
	}
	for name, answer := range map[string][]byte{
		"a field that is longer than its object": answerOf(append(tag(2, protowire.BytesType), 100, 'x')),
		"a field of 2^62 bytes":                  answerOf(protowire.AppendVarint(tag(2, protowire.BytesType), 1<<62)),
		"an object of 2^39 bytes":                protowire.AppendVarint(append([]byte("k8s\x00"), tag(2, protowire.BytesType)...), 1<<39),
		"a group":                                answerOf(tag(2, protowire.StartGroupType)),
	} {
		if got, err := fieldsOfAnswer(answer); err == nil {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// Requirements: POL-06
func TestAnswersInProtobufAreRecognized(t *testing.T) {
	for text, want := range map[string]bool{"k8s\x00": true, "k8s": false, "": false, `{"kind":"PodList"}`: false} {
		assert.Equal(t, kube.IsProtobuf(bufio.NewReader(strings.NewReader(text))), want, text)
	}
}
