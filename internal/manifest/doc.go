// Package manifest reads Kubernetes manifests from files, directories, globs and standard input, as kubectl's -f does, and
// records the position of each field. It builds kustomizations as kubectl's -k does; their objects have names instead of
// positions.
//
//	files ─► documents ─► objects, lists taken apart ─► Job templates ─► names into the annotation
//
// A document is parsed twice: its content by sigs.k8s.io/yaml, as in kubectl, so that the API server receives the same object
// as from kubectl (yes is a boolean, and 0777 is octal); its positions by go.yaml.in/yaml/v3, the maintained successor of
// kubectl's YAML library, whose nodes are never decoded. Nodes of JSON are built from its tokens, because that library does
// not parse all JSON as YAML.
//
// A document that cannot be parsed yields an Error with the line of the mistake and plain words; mistake.go finds the line by
// trying repairs. A template yields one Error for its file.
//
// The package guarantees: objects are in the order of the input; unknown fields are kept; every error has a position and is
// on one line; memory is bounded for any input (MaxSize, maxValues, maxAliased). An invalid document does not affect others.
//
// It never contacts a cluster or writes to a terminal. Errors quote the input: callers must sanitize them before printing
// (pkg/sanitize).
package manifest
