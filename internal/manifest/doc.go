// Package manifest reads Kubernetes manifests from files, directories, globs and standard input, as kubectl's -f does,
// and remembers the position of each field. It builds kustomizations as kubectl's -k does; their objects have names instead
// of positions.
//
//	files ─► documents ─► objects, lists taken apart ─► Job templates ─► names into the annotation
//
// A document is parsed twice: the content by sigs.k8s.io/yaml, as in kubectl, so that the API server gets what it would get
// from kubectl (yes is a boolean, and 0777 is octal); the positions by go.yaml.in/yaml/v3, the maintained successor of
// kubectl's YAML library, whose nodes are never decoded. Nodes of JSON are built from its tokens: that library does not
// parse all JSON as YAML.
//
// A document that cannot be read is an Error with the line of the mistake and plain words: mistake.go finds them by repairs.
// A template is one Error for its file.
//
// It promises: objects are in the order of the input; unknown fields are kept; every error has a position and is on one
// line; memory is bounded for any input (MaxSize, maxAliased). An invalid document does not affect others.
//
// It never talks to a cluster or writes to a terminal. Errors quote the input: sanitize them before printing
// (internal/sanitize).
package manifest
