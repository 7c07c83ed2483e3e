// The surface syntax of TESLA, in the papers' spelling and in T-Rex's. What is said here is only
// what can be said without context: names, units, literal ranges and the like are checked when the
// syntax tree is built, where the messages are better.
//
// The lexer reads bytes, not code points: a "character" above 0x7F is a byte of a UTF-8 sequence.
// Every decision but two (`clause`, and `terminator` at a type that is called `every`) needs a single
// token of lookahead; keep it so, because the messages name what the parser expected at the token
// where it stopped.
grammar Tesla;

// ------------------------------------------------------------------------------------------------
// Items. The text is cut at every `;` before parsing: none may stand inside an item.

item : (eventDeclaration | tableDeclaration | constant | ruleDefinition) EOF ;

subscription : (STAR | typeName) (LPAREN conditions? RPAREN)? (EXECUTE action)? EOF ;

eventDeclaration : INTERNAL? EVENT typeName LPAREN attributeDeclarations? RPAREN ;

// An event type of which the newest event of each key stays.
tableDeclaration : TABLE typeName LPAREN tableAttribute (COMMA tableAttribute)* RPAREN ;

tableAttribute : attributeDeclaration KEY? ;

// The value is a literal, which is checked when the syntax tree is built.
constant : CONST attributeName EQUAL factor ;

attributeDeclarations : attributeDeclaration (COMMA attributeDeclaration)* ;

attributeDeclaration : attributeName COLON valueType ;

valueType : attributeName ;

ruleDefinition
    : ruleHead* typeNumbers?
      DEFINE typeName LPAREN attributeDeclarations? RPAREN
      FROM terminator (AND clause)*
      whereClause?
      orderClause?
      limitClause?
      consumingClause?
      executeClause?
    ;

ruleHead : annotation | ruleName ;

ruleName : RULE typeName COLON ;

annotation : AT attributeName (LPAREN annotationArgument (COMMA annotationArgument)* RPAREN)? ;

annotationArgument : word (EQUAL annotationValue)? | annotationLiteral ;

annotationValue : word | annotationLiteral ;

// Names of engines have hyphens.
word : attributeName (MINUS attributeName)* ;

annotationLiteral : MINUS? (INT unit? | FLOAT) | STRING | TRUE | FALSE ;

typeNumbers : ASSIGN typeNumber (COMMA typeNumber)* ;

typeNumber : INT ARROW typeName ;

whereClause : WHERE assignment ((COMMA | AND) assignment)* ;

assignment : attributeName (EQUAL | BECOMES) sum ;

orderClause : ORDER BY orderKey (COMMA orderKey)* ;

orderKey : attributeName (ASC | DESC)? ;

limitClause : LIMIT (INT | constantName) ;

consumingClause : CONSUMING typeName (COMMA typeName)* ;

executeClause : EXECUTE action (COMMA action)* ;

action : typeName LPAREN STRING RPAREN ;

// ------------------------------------------------------------------------------------------------
// Pattern

// With `every`, so many events that pass, in all or of each key, are counted for one terminator.
terminator
    : EVERY (INT | constantName) predicate per?
    | predicate
    ;

// Events of any of the types.
predicate : typeName (OR typeName)* LPAREN conditions? RPAREN alias? ;

alias : AS typeName ;

clause
    : NOT predicate span
    | TABLE predicate
    | selection predicate per? span
    | comparison
    ;

selection : EACH | (INT MINUS)? (FIRST | LAST) ;

// The selection is made among the events of each key.
per : PER attributeName (COMMA attributeName)* ;

span
    : WITHIN window (FROM | AFTER) typeName
    | BETWEEN typeName AND typeName
    ;

// A time, or a number of events with a time behind it: `20 events`, or `20 of all events`.
window : extent (IN extent)? INCLUSIVE? ;

extent : (INT | constantName) (unit | OF ID ID)? ;

constantName : ID | PER | ORDER | BY | LIMIT | ASC | DESC | EXECUTE | TABLE | KEY | EVERY ;

unit : ID DOT? ;

// ------------------------------------------------------------------------------------------------
// Conditions and values share one grammar, so that a bracket may open either without lookahead.

conditions : disjunction (COMMA disjunction)* ;

disjunction : conjunction (OR conjunction)* ;

conjunction : inversion (AND inversion)* ;

inversion : NOT* comparison ;

// Comparisons do not chain, except in `expr cmp $t = AGG(...)`.
comparison : statedType? sum (comparator sum | IN arguments)* ;

statedType : LBRACKET valueType RBRACKET ;

comparator : EQUAL | NOT_EQUAL | LESS | LESS_EQUAL | GREATER | GREATER_EQUAL | CONTAINS | LIKE | MATCHES | ARROW ;

sum : product ((PLUS | MINUS) product)* ;

product : factor ((STAR | SLASH) factor)* ;

factor : MINUS* primary ;

primary
    : LPAREN disjunction RPAREN
    | INT unit?
    | FLOAT
    | STRING
    | (TRUE | FALSE)
    | PARAMETER
    | attributeName member?
    ;

// A call of a function, and the parts of an aggregate: `Avg(Temp(area = $a).value within 5 min from
// Smoke)` is a call whose one argument has the form of a call, too. What a call is follows from its
// name and its arguments, and is told when the syntax tree is built.
member
    : DOT attributeName (arguments span?)?
    | arguments (DOT attributeName)? span?
    ;

arguments : LPAREN conditions? RPAREN ;

// ------------------------------------------------------------------------------------------------
// Names. Words that are keywords by position only are tokens that every name may be.

typeName : ID | EVENT | RULE | ASSIGN | EACH | FIRST | LAST | CONTAINS | LIKE | MATCHES | IN | INCLUSIVE
    | INTERNAL | PER | ORDER | BY | LIMIT | ASC | DESC | EXECUTE | TABLE | KEY | OF | EVERY | CONST ;

attributeName
    : typeName
    | DEFINE | FROM | WHERE | CONSUMING | WITHIN | BETWEEN | AFTER | AS
    ;

// ------------------------------------------------------------------------------------------------
// Tokens

AND : A N D ;
OR : O R ;
NOT : N O T ;
TRUE : T R U E ;
FALSE : F A L S E ;

DEFINE : D E F I N E ;
FROM : F R O M ;
WHERE : W H E R E ;
CONSUMING : C O N S U M I N G ;
WITHIN : W I T H I N ;
BETWEEN : B E T W E E N ;
AFTER : A F T E R ;
AS : A S ;

EVENT : E V E N T ;
RULE : R U L E ;
ASSIGN : A S S I G N ;
EACH : E A C H ;
FIRST : F I R S T ;
LAST : L A S T ;
CONTAINS : C O N T A I N S ;
LIKE : L I K E ;
MATCHES : M A T C H E S ;
IN : I N ;
INCLUSIVE : I N C L U S I V E ;
INTERNAL : I N T E R N A L ;
PER : P E R ;
ORDER : O R D E R ;
BY : B Y ;
LIMIT : L I M I T ;
ASC : A S C ;
DESC : D E S C ;
EXECUTE : E X E C U T E ;
TABLE : T A B L E ;
KEY : K E Y ;
OF : O F ;
EVERY : E V E R Y ;
CONST : C O N S T ;

// The types of events that a server publishes about itself have a dot in their names.
ID : WORD | 'gorgo.' WORD ;
PARAMETER : '$' WORD ;
INT : DIGITS ;
FLOAT : DIGITS '.' DIGITS EXPONENT? | DIGITS EXPONENT ;
STRING : '"' (ESCAPE | ~["\\\r\n])* '"' | '\'' (ESCAPE | ~['\\\r\n])* '\'' ;

SEMICOLON : ';' ;
COMMA : ',' ;
COLON : ':' ;
BECOMES : ':=' ;
DOT : '.' ;
AT : '@' ;
LPAREN : '(' ;
RPAREN : ')' ;
LBRACKET : '[' ;
RBRACKET : ']' ;
ARROW : '=>' ;
EQUAL : '=' ;
NOT_EQUAL : '!=' ;
LESS : '<' ;
LESS_EQUAL : '<=' ;
GREATER : '>' ;
GREATER_EQUAL : '>=' ;
PLUS : '+' ;
MINUS : '-' ;
STAR : '*' ;
SLASH : '/' ;

// What is nowhere legal is a token too: the parser stops at it, and the message can name it.
FOREIGN_OPERATOR : '&&' | '&' | '||' | '|' | '==' | '<>' | '=<' | '!' ;
UNTERMINATED_STRING : '"' (ESCAPE | ~["\\\r\n])* '\\'? | '\'' (ESCAPE | ~['\\\r\n])* '\\'? ;
UNTERMINATED_COMMENT : '/*' (~'*' | '*'+ ~[*/])* '*'* ;

BLOCK_COMMENT : '/*' (~'*' | '*'+ ~[*/])* '*'+ '/' -> skip ;
LINE_COMMENT : ('//' | '#') ~[\r\n]* -> skip ;
BLANK : [ \t\r\n\f]+ -> skip ;
BYTE_ORDER_MARK : '\u0001\u0002\u0003' -> skip ;  // as `ByteStream` shows it

UNKNOWN : '\u007F'+ | . ;  // bytes beyond ASCII; last: whatever matches as much is something better

fragment WORD : [A-Za-z_] [A-Za-z0-9_]* ;
fragment DIGITS : [0-9]+ ;
fragment EXPONENT : [eE] [+\-]? DIGITS ;
fragment ESCAPE : '\\' ~[\r\n] ;

fragment A : [aA] ;
fragment B : [bB] ;
fragment C : [cC] ;
fragment D : [dD] ;
fragment E : [eE] ;
fragment F : [fF] ;
fragment G : [gG] ;
fragment H : [hH] ;
fragment I : [iI] ;
fragment K : [kK] ;
fragment L : [lL] ;
fragment M : [mM] ;
fragment N : [nN] ;
fragment O : [oO] ;
fragment P : [pP] ;
fragment R : [rR] ;
fragment S : [sS] ;
fragment T : [tT] ;
fragment U : [uU] ;
fragment V : [vV] ;
fragment W : [wW] ;
fragment X : [xX] ;
fragment Y : [yY] ;
