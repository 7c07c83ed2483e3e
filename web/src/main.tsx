import {render} from 'preact';
import {App} from './app';
import {takeLinks} from './route';
import {follow} from './store';
import './style.css';

takeLinks();
void follow();
render(<App />, document.getElementById('page')!);
