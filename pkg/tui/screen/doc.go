// Package screen has the common parts of all screens of the interactive view: the interfaces Screen and Pane, the Data that
// they draw, tabs, and panes of text.
//
// A screen never calls the Model that shows it. It returns an Action, such as to open another screen or to ask a Question.
package screen
