/** The page of the viewer. */

import { render } from 'preact';
import { App } from './app.tsx';
import './navigation/theme.ts';

render(<App />, document.getElementById('page')!);
