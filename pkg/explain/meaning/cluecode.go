package meaning

import (
	"fmt"
	"slices"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

var (
	// codeLine matches a file of code and a line in it: in a stack, or before the message of an interpreter, a shell or a client.
	codeLine = lazyregexp.New(`(?:File "|[\s(]|^|psql:|file://)(/[^\s"':(),]+\.\w{1,5})(?:", line |: line |: ?| on line | line )(\d+)\b`)
	// library matches files that come with a language or a package, or that are compiled.
	library = lazyregexp.New(`/(?:site-packages|dist-packages|node_modules|gems|vendor)/|\.(?:cc?|cpp|cu|h|rs|go)$|^/usr/(?:local/)?lib|^/opt/conda/lib|/lib/(?:python|ruby)`)
	// broken matches errors about code that cannot be read, or that names what does not exist; faulty matches errors of code, some of which follow
	// from what it is given; unreadable is code in another version of its language.
	broken     = lazyregexp.New(`\b(?:Syntax|Indentation|Tab|Name|Reference|UnboundLocal)Error\b|(?i:syntax error|error in your SQL syntax|unexpected (?:token|identifier|end of (?:file|input))|undefined (?:function|constant|local variable or method))`)
	unreadable = lazyregexp.New(`^(?:\w+: )?(?:Syntax|Indentation|Tab)Error\b`)
	// ofAnswer matches an error about a part that is missing, and ofLibrary one in the library of a client, which reads answers of its server.
	ofAnswer  = lazyregexp.New(`\bKeyError\b|'NoneType' object is not`)
	ofLibrary = lazyregexp.New(`(?:site|dist)-packages/(?:curator|elasticsearch|opensearchpy|kubernetes|requests|urllib3|boto\w*|google|azure|hvac|consul|gitlab|github|jenkins|keystone\w*|openstack)/\S+", line \d+, in \w+\n[^\n]*\n\S*(?:KeyError|TypeError)`)
	// ofInput matches errors that look like unreadable ones, and are about a statement, a pattern or a file of data.
	ofInput = lazyregexp.New(`at or near|outside a module|Invalid regular expression|\.ya?ml\b|JSON`)
	// ofEnvironment matches errors with which programs also report what they lack.
	ofEnvironment = lazyregexp.New(`\b(?:Assertion|Value|Runtime)Error\b|\bIllegalState|^panic: |(?i:unhandled (?:exception|rejection))`)
	faulty        = lazyregexp.New(`\b(?:Attribute|Type|Key|Index|ZeroDivision|Assertion|Recursion|Value|Runtime|Range|NoMethod|Argument|NotImplemented|Lookup|Arithmetic|StopIteration)Error\b|` +
		`\b(?:NullReference|InvalidOperation|IndexOutOfRange|InvalidCast|ArgumentNull|Argument|Format|IllegalState|IllegalArgument|\w*IndexOutOfBounds|ClassCast|NumberFormat|UnsupportedOperation|ConcurrentModification|NotImplemented)Exception\b|` +
		`^panic: |^fatal error: |^Error in \S|\b(?:undefined|null|None\w*|nil)\b|\bNoSuch(?:Method|Field)Error\b|(?i:call to (?:a member function|undefined)|undefined (?:array key|index|offset|variable|property)|unhandled (?:exception|rejection))`)
)

// codeIn returns the last place in code that the log names: in a volume, or else in the program itself; line is "" if there is none.
func (q *Clue) codeIn(c *Container) (file, line string, in *Mount) {
	for _, text := range slices.Backward(append(slices.Clone(q.Log), q.Words)) {
		for _, m := range slices.Backward(codeLine.FindAllStringSubmatch(text, -1)) {
			switch mount := mountOf(m[1], c.Mounts); {
			case mount != nil && !library.MatchString(m[1]):
				return m[1], m[2], mount
			case line == "" && !library.MatchString(m[1]):
				file, line = m[1], m[2]
			}
		}
	}
	return file, line, nil
}

// brokenCode is the clue of code in a volume, such as a script in a ConfigMap, that cannot be read or does not have what it names.
func brokenCode(q *Clue, c *Container) Remedy {
	if file, line, in := q.codeIn(c); in != nil && broken.MatchString(q.Words) {
		return Remedy{Text: fmt.Sprintf("correct line %s of %s, which comes from %s", line, file, in.name()), Elsewhere: true}
	}
	if unreadable.MatchString(q.Words) && !ofInput.MatchString(q.Words) {
		return Remedy{Text: fmt.Sprintf("use an image for container %s whose version of the language is that of the code, or correct the code; the image is %s", c.Name, c.Image), OfTemplate: true}
	}
	return Remedy{}
}

// firstWord matches what names the program in its message.
var firstWord = lazyregexp.New(`^(\S+?):`)

// ofKubeconfig matches a frame of the client of Python that reads a kubeconfig.
var ofKubeconfig = lazyregexp.New(`kubernetes(?:_asyncio)?/config/kube_config\.py"`)

// faultyCode is the clue of an error of code about which nothing else is known.
func faultyCode(q *Clue, c *Container) Remedy {
	file, line, in := q.codeIn(c)
	place := prefixed(" at line ", wording.Join(" of ", line, file))
	switch {
	case line == "" && (!faulty.MatchString(q.Words) && !broken.MatchString(q.Words) || ofEnvironment.MatchString(q.Words)):
		return Remedy{}
	case in == nil && broken.MatchString(q.Words):
		what := "the code"
		if isShell(firstWord.Group(q.Words)) {
			what = c.scriptText() + ", or run it with the shell that it is written for"
		}
		return Remedy{Text: fmt.Sprintf("correct %s%s, or run another version of image %s", what, place, c.Image)}
	case in != nil:
		return Remedy{Text: fmt.Sprintf("correct the code%s, which comes from %s, or the input that it does not expect", place, in.name()), Elsewhere: true}
	}
	if slices.ContainsFunc(q.Log, ofKubeconfig.MatchString) {
		return Remedy{Text: fmt.Sprintf("have the program log in as the ServiceAccount of its pod (config.load_incluster_config() in Python), or run a version of image %s that does: it looks for a kubeconfig, and does not find one that it can use in container %s", c.Image, c.Name)}
	}
	if all := c.peers(); len(all) == 1 && ofAnswer.MatchString(q.Words) && ofLibrary.MatchString(strings.Join(q.Log, "\n")) {
		return Remedy{Text: fmt.Sprintf("check what %s answers to the user of the program%s: the answer lacks a part, for want of a right, or as image %s is for another version of the server", all[0].name(), wording.InBrackets(c.credentials()), c.Image), Elsewhere: true}
	}
	if in := c.givenInputs(); in != "" {
		place += ", which may come from " + in
	}
	return Remedy{Text: fmt.Sprintf("correct the input that the program does not expect%s, or run another version of image %s", place, c.Image)}
}
